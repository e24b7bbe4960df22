import { newRealWorld } from "../../../src/cli/real_world.ts";
import { assertEquals } from "../../support/assert.ts";
import { oneProvider } from "../../support/gateway.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import {
  KEYS_URL,
  newSigningKey,
  NOW_S,
  refreshKeys,
  tokenSecurity,
} from "../../support/token_issuer.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";
import { sendBy } from "../../support/world.ts";

Deno.test("a socket completes the turn that runs at the end of its token, refuses the next one, and stays open for the error", async () => {
  const key = await newSigningKey("k1");
  const real = newRealWorld();
  let wallMs = NOW_S * 1000;
  // The end of the token comes while the third turn waits for its provider.
  const { fetch } = wordStreams((_sent, count) => {
    if (count === 3) wallMs += 1_000;
    return saying("yes");
  });
  const world = { ...real, wall: () => wallMs, send: sendBy(fetch) };
  {
    await using served = socketGateway(tokenSecurity() + oneProvider("http://up.test"), { world });
    await refreshKeys(served.gateway, [key]);
    const token = await key.sign({ exp: NOW_S + 100 });
    await using open = await served.open({ authorization: `Bearer ${token}` });
    assertEquals((await open.turn(create())).output, "yes");
    wallMs += 159_000;
    assertEquals((await open.turn(create())).output, "yes");
    assertEquals((await open.turn(create())).output, "yes");
    const { end, error } = await open.turn(create());
    assertEquals<unknown>([end.status, error.code], [401, "token_expired"]);
    // The handshake has verified the token; each turn has counted once.
    const counts = [...(await served.gateway.metrics.scrape()).matchAll(
      /^gateway_tokens_verified_total\{issuer="corp",result="(.*)"\} (\d+)$/gm,
    )].map(([, result, count]) => `${result} ${count}`);
    assertEquals(counts, ["valid 1", "cached 3", "expired 1"]);
  }
  real.close();
});

Deno.test("a socket stays open while the keys of its issuer are not available, and serves turns again with them", async () => {
  const key = await newSigningKey("k1");
  const real = newRealWorld();
  const { fetch } = wordStreams(() => saying("yes"));
  const world = { ...real, wall: () => NOW_S * 1000, send: sendBy(fetch) };
  {
    const provider = oneProvider("http://up.test");
    await using served = socketGateway(tokenSecurity() + provider, { world });
    await refreshKeys(served.gateway, [key]);
    const authorization = `Bearer ${await key.sign()}`;
    await using open = await served.open({ authorization });
    served.reload(tokenSecurity({ jwks_url: `${KEYS_URL}/moved` }) + provider);
    for (let turn = 0; turn < 3; turn++) {
      const { end, error } = await open.turn(create());
      assertEquals<unknown>([end.status, error.code], [503, "issuer_unavailable"]);
    }
    await refreshKeys(served.gateway, [key], `${KEYS_URL}/moved`);
    assertEquals((await open.turn(create())).output, "yes");
  }
  real.close();
});
