import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assertEquals } from "../../../support/assert.ts";
import {
  type Account,
  nativeConfig,
  nativeGateway,
  responseOf,
} from "../../../support/native_gateway.ts";
import { refusalOf, type Reply } from "../../../support/state_call.ts";

const ABLE: Account = { can: ["background_responses", 'hosted_tools: [" Web_Search ", mcp]'] };

/** A create at these accounts; what came of it and which upstreams were called. */
async function create(
  accounts: Readonly<Record<string, Account>>,
  body: JsonObject,
): Promise<{ readonly reply: Reply; readonly hosts: readonly string[] }> {
  const calls = nativeGateway(nativeConfig(accounts), () => ({ body: responseOf("resp_1") }));
  const reply = await calls.post("/responses", { model: "m", input: "x", ...body });
  return { reply, hosts: calls.requests.map(({ host }) => host) };
}

const WEB = { tools: [{ type: "web_search" }] };
const INSIDE = {
  tools: [{
    type: "namespace",
    name: "n",
    tools: [{ type: "function", name: "f" }, { type: "mcp" }],
  }],
};
const TWO_TOOLS = { tools: [{ type: "function", name: "f" }, { type: "mcp" }] };

Deno.test("a background response needs background_responses", async () => {
  const refused = await create({ first: {} }, { background: true });
  assertEquals(refusalOf(refused.reply), [400, "unsupported_feature", "background"]);
  assertEquals(refused.hosts, []);
  assertEquals((await create({ first: ABLE }, { background: true })).hosts, ["first"]);
  for (const background of [false, null]) {
    assertEquals((await create({ first: {} }, { background })).hosts, ["first"]);
  }
});

Deno.test("a hosted tool must be listed, also inside namespaces", async () => {
  const cases: readonly (readonly [JsonObject, string])[] = [
    [WEB, "tools[0].type"],
    [TWO_TOOLS, "tools[1].type"],
    [INSIDE, "tools[0].tools[1].type"],
    [{ tools: [{ type: "of_tomorrow" }] }, "tools[0].type"],
  ];
  for (const [body, param] of cases) {
    const refused = await create({ first: {} }, body);
    assertEquals(refusalOf(refused.reply), [400, "unsupported_feature", param]);
    assertEquals(refused.hosts, []);
  }
  assertEquals((await create({ first: ABLE }, WEB)).hosts, ["first"]);
  assertEquals((await create({ first: ABLE }, TWO_TOOLS)).hosts, ["first"]);
  assertEquals((await create({ first: ABLE }, INSIDE)).hosts, ["first"]);
  const other = await create({ first: ABLE }, { tools: [{ type: "file_search" }] });
  assertEquals(refusalOf(other.reply), [400, "unsupported_feature", "tools[0].type"]);
});

Deno.test("tools that the client runs itself need no capability", async () => {
  const types = ["function", "custom", "namespace", "local_shell", "shell", "apply_patch"];
  for (const type of types) {
    assertEquals((await create({ first: {} }, { tools: [{ type, name: "f" }] })).hosts, ["first"]);
  }
});

Deno.test("a target without the capability is skipped for a fallback with the capability", async () => {
  for (const body of [{ background: true }, WEB, TWO_TOOLS]) {
    assertEquals((await create({ first: {}, second: ABLE }, body)).hosts, ["second"]);
    const none = await create({ first: {}, second: {} }, body);
    assertEquals([none.reply.status, none.hosts], [400, []]);
  }
});

Deno.test("a fallback without the capability is skipped, and the field is never removed", async () => {
  const accounts = { first: ABLE, second: {}, third: ABLE };
  for (const body of [{ background: true }, WEB]) {
    const calls = nativeGateway(
      nativeConfig(accounts),
      ({ host }) => host === "first" ? { status: 503, body: "" } : { body: responseOf("resp_1") },
    );
    const headers = { "x-gateway-no-retry": "true" };
    const reply = await calls.post("/responses", { model: "m", input: "x", ...body }, headers);
    assertEquals(reply.status, 200);
    assertEquals(calls.requests.map(({ host }) => host), ["first", "third"]);
    assertEquals(calls.requests[1]?.json, { model: "m", input: "x", ...body });
  }
});

Deno.test("a reload that removes a capability applies from the next request", async () => {
  const calls = nativeGateway(
    nativeConfig({ first: ABLE }),
    () => ({ body: responseOf("resp_1") }),
  );
  const body = { model: "m", input: "x", background: true };
  assertEquals((await calls.post("/responses", body)).status, 200);
  calls.reload(nativeConfig({ first: {} }));
  const refused = await calls.post("/responses", body);
  assertEquals(refusalOf(refused), [400, "unsupported_feature", "background"]);
  const followed = { ...body, previous_response_id: "resp_1" };
  assertEquals(refusalOf(await calls.post("/responses", followed))[2], "background");
  assertEquals(calls.requests.length, 1);
});

Deno.test("tools are found in namespaces of any depth", async () => {
  const levels = 20_000;
  const [begin, end] = ['{"type":"namespace","tools":[', "]}"].map((text) => text.repeat(levels));
  for (const [type, status] of [["function", 200], ["mcp", 400]]) {
    const calls = nativeGateway(
      nativeConfig({ first: {} }),
      () => ({ body: responseOf("resp_1") }),
    );
    const body = `{"model":"m","input":"x","tools":[${begin}{"type":"${type}"}${end}]}`;
    assertEquals((await calls.post("/responses", body)).status, status);
  }
});
