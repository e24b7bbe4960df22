import http2 from "node:http2";
import { assert, assertEquals } from "../../support/assert.ts";
import { oneProvider, serveGateway } from "../../support/gateway.ts";
import { newSigningKey, refreshKeys, tokenSecurity } from "../../support/token_issuer.ts";

/** The year 2096, because the gateway has the clock of the machine. */
const EXP_S = 3_999_999_999;

const UNKNOWN_PATH = "/v1/nothing";

/** Characters of a token for a group: 36 of its ID, two quotes and a comma, in base64url. */
const GROUP_CHARS = 52;

async function statusOver1(url: string, token: string) {
  const response = await fetch(`${url}${UNKNOWN_PATH}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await response.body?.cancel();
  return response.status;
}

async function statusOver2(url: string, token: string) {
  const session = http2.connect(url);
  const status = await new Promise((resolve, reject) => {
    const stream = session.request({ ":path": UNKNOWN_PATH, authorization: `Bearer ${token}` });
    stream.on("response", (answer) => resolve(answer[":status"]));
    stream.on("data", () => {});
    stream.on("error", reject);
    stream.end();
  });
  await new Promise<void>((resolve) => session.close(resolve));
  return status;
}

Deno.test("a token with 200 groups is admitted over HTTP/1.1 and over HTTP/2, whose headers have 16 KiB together", async () => {
  const key = await newSigningKey("k1", "RS256");
  const security = tokenSecurity({ algorithms: ["RS256"] });
  await using served = serveGateway(
    "server: {http2: true}\n" + security + oneProvider("http://127.0.0.1:1"),
  );
  await refreshKeys(served.gateway, [key]);
  const withGroups = (count: number) => {
    const groups = Array.from({ length: count }, () => crypto.randomUUID());
    return key.sign({ exp: EXP_S, groups: ["ai-users", ...groups] });
  };
  const usual = await withGroups(200);
  assertEquals(usual.length - (await withGroups(0)).length, 10_400);
  assertEquals(await statusOver1(served.url, usual), 404);
  assertEquals(await statusOver2(served.url, usual), 404);
  const more = Math.floor((16_384 - usual.length) / GROUP_CHARS);
  const longest = await withGroups(200 + more);
  assert(longest.length > 16_384 - 2 * GROUP_CHARS && longest.length <= 16_384);
  assertEquals(await statusOver1(served.url, longest), 404);
  assertEquals(await statusOver2(served.url, longest), 431);
  assertEquals(await statusOver1(served.url, await withGroups(201 + more)), 401);
});
