import { isObject, type JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { keyOf } from "../../support/client_keys.ts";
import type { NativeGateway } from "../../support/native_gateway.ts";
import { type Reply } from "../../support/state_call.ts";
import {
  blockOf,
  keyedConfig,
  thinkingConfig,
  thinkingGateway,
  type Thought,
} from "./thinking_gateway.ts";

const HM: Thought = { text: " Hm\n", seal: "sealed" };
const USER = { role: "user", content: "Weather?" };
const CALLED: readonly JsonObject[] = [
  { type: "function_call", call_id: "call_1", name: "f", arguments: '{"a":1}' },
  { type: "function_call_output", call_id: "call_1", output: "sunny" },
];
const TOOLS = [{ type: "function", name: "f" }];
const ENCRYPTED = { include: ["reasoning.encrypted_content"] };

/** A reasoning item without its encrypted content. */
function reasoned(text: string): JsonObject {
  return {
    type: "reasoning",
    id: "rs_1",
    summary: [],
    content: [{ type: "reasoning_text", text }],
  };
}

async function ask(
  gateway: NativeGateway,
  input: readonly JsonObject[],
  more: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const body = { model: "m", tools: TOOLS, store: false, input: [...input], ...more };
  return await gateway.post("/responses", body, headers);
}

/** Returns the thinking blocks that the upstream has received last. */
function lastThinking({ requests }: NativeGateway): readonly JsonObject[] {
  const messages = requests.at(-1)?.json.messages;
  return (Array.isArray(messages) ? messages : []).filter(isObject)
    .flatMap(({ content }) => Array.isArray(content) ? content.filter(isObject) : [])
    .filter(({ type }) => type === "thinking");
}

for (const stream of [false, true]) {
  const how = stream ? "stream" : "whole response";

  Deno.test(`the signed reasoning of a ${how} is put back for its calls if a Responses client sends no encrypted content`, async () => {
    const gateway = thinkingGateway(thinkingConfig("messages"), "messages", [HM]);
    assertEquals((await ask(gateway, [USER], { stream })).status, 200);
    for (const reasoning of [[], [reasoned(HM.text)]]) {
      const next = await ask(gateway, [USER, ...reasoning, ...CALLED], { stream });
      assertEquals([next.status, next.headers.get("x-gateway-lossy")], [200, null]);
      assertEquals(lastThinking(gateway), [blockOf("messages", HM)]);
    }
  });
}

Deno.test("a changed reasoning text of a Responses client is left out of the running tool loop", async () => {
  const gateway = thinkingGateway(thinkingConfig("messages"), "messages", [HM]);
  await ask(gateway, [USER]);
  const next = await ask(gateway, [USER, reasoned("Other."), ...CALLED]);
  assertEquals([next.status, next.headers.get("x-gateway-lossy")], [200, "input[1]"]);
  assertEquals(lastThinking(gateway), []);
});

Deno.test("the reasoning of a Responses client that requests encrypted content is not stored", async () => {
  const gateway = thinkingGateway(thinkingConfig("messages"), "messages", [HM]);
  await ask(gateway, [USER], ENCRYPTED);
  const next = await ask(gateway, [USER, ...CALLED]);
  assertEquals([next.status, lastThinking(gateway)], [200, []]);
});

Deno.test("the reasoning of a response is put back only for the client key that has received it", async () => {
  const gateway = thinkingGateway(keyedConfig("messages"), "messages", [HM]);
  await ask(gateway, [USER], {}, keyOf("ada"));
  await ask(gateway, [USER, ...CALLED], {}, keyOf("bob"));
  assertEquals(lastThinking(gateway), []);
  await ask(gateway, [USER, ...CALLED], {}, keyOf("ada"));
  assertEquals(lastThinking(gateway), [blockOf("messages", HM)]);
});
