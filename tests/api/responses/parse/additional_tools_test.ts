import { messageOf } from "../../../../src/core/failure/openai_error.ts";
import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { nativeGateway } from "../../../support/native_gateway.ts";
import { shortAnswer } from "../../../support/growth/spoken.ts";
import { valueOf } from "../../../support/translated.ts";
import { refusalOf, translate } from "../translated.ts";

const WIRES = ["compat", "messages", "local"] as const;
const USER = { role: "user", content: "Hi" };
const TOOL = { type: "function", name: "a" };

/** An item that declares these tools. */
function additional(tools: JsonObject[], role = "developer"): JsonObject {
  return { type: "additional_tools", role, tools };
}

function namesIn(body: JsonObject, kept: readonly JsonObject[] = []) {
  const { prompt: { tools } } = valueOf(translate(body, "compat", kept));
  return tools.map(({ name }) => name.value);
}

Deno.test("tools that the input declares follow those of the request, in order, with flat names of namespaces", () => {
  const inner = [{ type: "function", name: "run" }];
  const input = [
    { role: "developer", content: "Be brief." },
    additional([{ type: "namespace", name: "shell", tools: inner }, { ...TOOL, name: "b" }]),
    additional([{ ...TOOL, name: "c" }]),
    USER,
  ];
  assertEquals(namesIn({ input, tools: [TOOL] }), ["a", "shell__run", "b", "c"]);
});

Deno.test("a call of a tool that the input declares has its short name and its namespace", async () => {
  const call = { id: "c", type: "function", function: { name: "shell__run", arguments: "{}" } };
  const message = { role: "assistant", content: null, tool_calls: [call] };
  const choices = [{ index: 0, message, finish_reason: "tool_calls" }];
  const { post } = nativeGateway(
    `
providers: {up: {type: compat, base_url: "http://up"}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`,
    () => ({
      body: JSON.stringify({ id: "x", object: "chat.completion", created: 1, model: "m", choices }),
    }),
  );
  const tools = [{ type: "namespace", name: "shell", tools: [{ type: "function", name: "run" }] }];
  const reply = await post("/responses", { model: "m", input: [additional(tools), USER] });
  const [item] = JSON.parse(reply.text).output;
  assertEquals([reply.status, item.type, item.namespace, item.name], [
    200,
    "function_call",
    "shell",
    "run",
  ]);
});

Deno.test("declared tools are refused after an item of the user or the assistant, and with another role", () => {
  const item = additional([TOOL]);
  const call = { type: "function_call", call_id: "c", name: "a", arguments: "{}" };
  const result = { type: "function_call_output", call_id: "c", output: "ok" };
  for (const wire of WIRES) {
    for (
      const [path, input] of [
        ["input[1].type", [USER, item]],
        ["input[1].type", [{ role: "assistant", content: "Hi" }, item, USER]],
        ["input[2].type", [call, result, item, USER]],
        ["input[0].type", [additional([TOOL], "user"), USER]],
        ["input[0].type", [additional([TOOL], "system"), USER]],
      ] as const
    ) {
      assertEquals(refusalOf(translate({ input: [...input] }, wire)), [
        "unsupported_feature",
        path,
      ]);
    }
  }
});

Deno.test("two tools of one name, and a tool of another type, are refused by the path in their item", () => {
  const twice = translate({ input: [additional([TOOL]), USER], tools: [TOOL] });
  assertEquals(refusalOf(twice), ["invalid_value", "input[0].tools[0].name"]);
  const hosted = translate({ input: [additional([TOOL, { type: "web_search" }]), USER] });
  assertEquals(refusalOf(hosted), ["unsupported_feature", "input[0].tools[1].type"]);
  assert(!hosted.ok && messageOf(hosted.failure).includes("'omit_tools'"));
  const nested = { type: "namespace", name: "n", tools: [{ type: "mcp", name: "c" }] };
  assertEquals(refusalOf(translate({ input: [additional([nested])] })), [
    "unsupported_feature",
    "input[0].tools[0].tools[0].type",
  ]);
});

Deno.test("a request that declares no tools has those of the last stored turn that has declared some", () => {
  const question = { type: "message", ...USER };
  const named = (...names: string[]) => additional(names.map((name) => ({ ...TOOL, name })));
  const kept = [named("old"), question, named("a"), named("b"), question];
  const continued = { input: "And?", previous_response_id: "resp_1" };
  assertEquals(namesIn(continued, kept), ["a", "b"]);
  assertEquals(namesIn({ ...continued, tools: [] }, kept), ["a", "b"]);
  assertEquals(namesIn({ ...continued, tools: [{ ...TOOL, name: "c" }] }, kept), ["c"]);
  assertEquals(namesIn({ ...continued, input: [named("d"), USER] }, kept), ["d"]);
});

Deno.test("hosted tools that stored items declare are left out for a target that runs none", () => {
  const search = { type: "web_search" };
  const space = { type: "namespace", name: "s", tools: [search, { ...TOOL, name: "run" }] };
  const kept = [additional([search, space]), { type: "message", ...USER }];
  const continued = { input: "And?", previous_response_id: "resp_1" };
  assertEquals(namesIn(continued, kept), ["s__run"]);
  const required = translate({ ...continued, tool_choice: "required" }, "compat", [
    additional([search]),
    { type: "message", ...USER },
  ]);
  assertEquals(refusalOf(required), ["unsupported_feature", "tool_choice"]);
});

Deno.test("a provider's refusal of a declared tool names its path in the item", async () => {
  const { post, requests } = nativeGateway(
    `
providers: {up: {type: messages, base_url: "http://up", api_key: k}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
`,
    () => ({ body: shortAnswer("messages", false).body }),
  );
  const bad = { ...TOOL, parameters: { type: "array" } };
  const { text } = await post("/responses", { model: "m", input: [additional([bad]), USER] });
  assertEquals(JSON.parse(text).error.param, "input[0].tools[0].parameters");
  assertEquals(requests.length, 0);
});
