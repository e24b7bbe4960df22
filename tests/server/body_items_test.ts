import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../support/chat_call.ts";
import { create } from "../support/socket_client.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { saying, wordStreams } from "../support/word_stream.ts";
import { scriptedWorld } from "../support/world.ts";

const TOO_LARGE = [413, "invalid_request_error", "request_too_large"];
const SETTING = "server.max_json_members";

/** A chat request with this many members and elements in all. */
function bodyWith(items: number, end = "}"): string {
  // Its own members, those of its message, and the list itself.
  const own = 3 + 1 + 2;
  const extra = "1,".repeat(items - own - 1) + "1";
  return `{"model":"m","messages":[{"role":"user","content":"Hi"}],"extra":[${extra}]${end}`;
}

async function post(body: string, settings = "") {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const { app } = testGateway(`${oneProvider("http://up")}${settings}`, world);
  return await got(await app(new Request(chatRequest().url, { method: "POST", body })));
}

Deno.test("a request may hold 200,000 members and elements", async () => {
  assertEquals((await post(bodyWith(200_000))).status, 200);
  const refused = await post(bodyWith(200_001));
  assertEquals(verdictOf(refused), TOO_LARGE);
  assertStringIncludes(refused.text, SETTING);
  assertStringIncludes(refused.text, "200000");
});

Deno.test("the limit of members and elements can be set", async () => {
  const settings = "server: {max_json_members: 50}";
  assertEquals((await post(bodyWith(50), settings)).status, 200);
  assertEquals(verdictOf(await post(bodyWith(51), settings)), TOO_LARGE);
});

Deno.test("a member whose key no earlier object has counts as three of many, and more in a larger limit", async () => {
  const body = (count: number, key: (at: number) => string) =>
    bodyWith(10).replace(
      /"extra".*/,
      `"extra":{${Array.from({ length: count }, (_, at) => `"${key(at)}":1`).join(",")}}}`,
    );
  const keys = (at: number) => `key ${at}`;
  assertEquals((await post(body(64_000, keys))).status, 200);
  const refused = await post(body(67_000, keys));
  assertEquals(verdictOf(refused), TOO_LARGE);
  assertStringIncludes(refused.text, "keys are all different");
  assertEquals((await post(body(67_000, keys), "server: {max_json_members: 300000}")).status, 200);
  const objects = bodyWith(10).replace(/"extra".*/, `"extra":[${'{"a":1},'.repeat(90_000)}{}]}`);
  assertEquals((await post(objects)).status, 200);
});

Deno.test("too many members are refused before the text is parsed", async () => {
  const refused = await post(bodyWith(300_000, " this is not JSON"));
  assertEquals(verdictOf(refused), TOO_LARGE);
});

Deno.test("the member limit applies to a message over a socket, and the socket stays open", async () => {
  const upstream = wordStreams(() => saying("answer"));
  const config = `${oneProvider("http://up.test")}server: {max_json_members: 50}`;
  await using served = socketGateway(config, upstream);
  await using client = await served.open();
  const list = Array.from({ length: 60 }, () => ({ type: "function", name: "f" }));
  const { end, error, events } = await client.turn(create({ tools: list }));
  assertEquals<unknown>([events.length, end.status, error.code], [1, 413, "request_too_large"]);
  assertStringIncludes(String(error.message), SETTING);
  assertEquals((await client.turn(create())).output, "answer");
  assert(upstream.sent.length === 1);
});

Deno.test("the outermost object of a request may have 10,000 members", async () => {
  const body = (count: number) =>
    `{"model":"m","messages":[{"role":"user","content":"Hi"}],${
      Array.from({ length: count - 2 }, (_, at) => `"x${at}":null`).join(",")
    }}`;
  assertEquals((await post(body(10_000))).status, 200);
  const refused = await post(body(10_001));
  assertEquals(verdictOf(refused), TOO_LARGE);
  assertStringIncludes(refused.text, "10000");
});

Deno.test("a member whose key has an escape counts as 40, because its object may be read three times", async () => {
  const body = (count: number) =>
    `{"model":"m","messages":[{"role":"user","content":"\\n"}],"extra":{${
      Array.from({ length: count }, (_, at) => `"\\n${at}":1`).join(",")
    }}}`;
  assertEquals((await post(body(4_999))).status, 200);
  assertEquals(verdictOf(await post(body(5_000))), TOO_LARGE);
});
