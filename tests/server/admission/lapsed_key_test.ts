import { createHash } from "node:crypto";
import { assertEquals } from "../../support/assert.ts";
import { got, verdictOf } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";
import { scriptedWorld } from "../../support/world.ts";
import { configOf } from "../../config/parse.ts";

const INVALID = [401, "authentication_error", "invalid_api_key"];

const PROVIDER = oneProvider("http://up.test");

function withKeys(list: string, more = ""): string {
  return `security: {enabled: true, api_key: {keys: [${list}]}${more}}\n${PROVIDER}`;
}

function gatewayWith(config: string) {
  const world = scriptedWorld();
  const { app, gateway, reports } = testGateway(config, world);
  return {
    world,
    reports,
    reload: (text: string) => void gateway.reload(configOf(text)),
    /** The verdict on a request with the key; `ok` if it was admitted. */
    async verdict(key: string) {
      const headers = { authorization: `Bearer ${key}` };
      const answer = await got(await app(new Request("http://x/v1/nowhere", { headers })));
      return answer.status === 404 ? "ok" : verdictOf(answer);
    },
  };
}

Deno.test("a key given by its digest is found by its secret only", async () => {
  const digest = createHash("sha256").update("sk-alice").digest("hex");
  for (const written of [digest, digest.toUpperCase()]) {
    const { verdict, reports } = gatewayWith(withKeys(`{name: alice, sha256: "${written}"}`));
    assertEquals(await verdict("sk-alice"), "ok");
    assertEquals(reports[0]?.client, "alice");
    assertEquals(await verdict(written), INVALID);
    assertEquals(await verdict("sk-bob"), INVALID);
  }
});

Deno.test("a disabled key is invalid, its neighbour is not", async () => {
  const { verdict, reports } = gatewayWith(
    withKeys("{name: a, value: sk-a, disabled: true}, {name: b, value: sk-b}"),
  );
  assertEquals(await verdict("sk-a"), INVALID);
  assertEquals(await verdict("sk-b"), "ok");
  assertEquals(reports.map(({ client }) => client), [null, "b"]);
});

Deno.test("a key is invalid from 00:00 of the day on which it expires, in the time zone of the file", async () => {
  // The scripted world begins on 2023-11-14 at 22:13:20 UTC.
  for (const [zone, seconds] of [["UTC", 6400], ["Europe/Berlin", 2800]] as const) {
    const { verdict, world } = gatewayWith(
      withKeys("{name: a, value: sk-a, expires: 2023-11-15}", `, time_zone: ${zone}`),
    );
    await world.advance(seconds * 1000 - 1);
    assertEquals(await verdict("sk-a"), "ok", zone);
    await world.advance(1);
    assertEquals(await verdict("sk-a"), INVALID, zone);
  }
});

Deno.test("a reload disables a key for the next request, and enables it again", async () => {
  const { verdict, reload } = gatewayWith(withKeys("{name: a, value: sk-a}"));
  assertEquals(await verdict("sk-a"), "ok");
  reload(withKeys("{name: a, value: sk-a, disabled: true}"));
  assertEquals(await verdict("sk-a"), INVALID);
  reload(withKeys("{name: a, value: sk-a}"));
  assertEquals(await verdict("sk-a"), "ok");
});

Deno.test("a disabled key opens no socket, and a reload that disables it refuses the next turn", async () => {
  const config = (settings: string) => withKeys(`{name: a, value: sk-a${settings}}`);
  const upstream = wordStreams(() => saying("yes"));
  await using served = socketGateway(config(""), upstream);
  const headers = { authorization: "Bearer sk-a" };
  await using open = await served.open(headers);
  assertEquals((await open.turn(create())).output, "yes");
  for (const lapsed of [", disabled: true", ", expires: 2020-01-01"]) {
    served.reload(config(lapsed));
    const { end, error } = await open.turn(create());
    assertEquals<unknown>([end.status, error.type, error.code], INVALID);
    const handshake = await fetch(`${served.url}/v1/responses`, {
      headers: { ...headers, connection: "upgrade", upgrade: "websocket" },
    });
    assertEquals(verdictOf(await got(handshake)), INVALID);
    served.reload(config(""));
    assertEquals((await open.turn(create())).output, "yes");
  }
});
