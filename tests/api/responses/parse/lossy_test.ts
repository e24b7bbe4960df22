import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assertEquals } from "../../../support/assert.ts";
import { shortAnswer } from "../../../support/growth/spoken.ts";
import { nativeGateway } from "../../../support/native_gateway.ts";

const CONFIG = `
providers: {up: {type: messages, base_url: "http://up", api_key: k}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`;
const USER = { role: "user", content: "Weather?" };
const THOUGHT = {
  type: "reasoning",
  id: "rs_1",
  summary: [],
  content: [{ type: "reasoning_text", text: "hm" }],
};
const CALL = { type: "function_call", call_id: "c", name: "f", arguments: "{}" };
const RESULT = { type: "function_call_output", call_id: "c", output: "sunny" };
const TOOLS = [{ type: "function", name: "f", parameters: { type: "object" } }];

async function ask(...input: JsonObject[]) {
  const gateway = nativeGateway(CONFIG, () => ({ body: shortAnswer("messages", false).body }));
  const body = { model: "m", input, tools: TOOLS, store: false, instructions: "Be brief." };
  return { reply: await gateway.post("/responses", body), asked: gateway.requests };
}

Deno.test("unsigned reasoning of earlier turns over messages is left out and named by its item", async () => {
  const { reply, asked } = await ask(USER, THOUGHT, CALL, RESULT, USER);
  assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, "input[1]"]);
  assertEquals(asked.map(({ body }) => body.includes("hm")), [false]);
});

Deno.test("a running tool loop over messages continues without unsigned reasoning, with thinking off", async () => {
  const { reply, asked } = await ask(USER, THOUGHT, CALL, RESULT);
  assertEquals([reply.status, reply.headers.get("x-gateway-lossy")], [200, "input[1]"]);
  assertEquals(asked.map(({ body }) => body.includes("hm")), [false]);
  assertEquals(asked.map(({ body }) => JSON.parse(body).thinking), [{ type: "disabled" }]);
});
