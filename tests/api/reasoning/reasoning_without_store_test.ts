import { assert, assertEquals } from "../../support/assert.ts";
import { assertNothingStored, NO_STORE } from "../../support/no_store.ts";
import { objectsAt, textAt } from "../../support/state_call.ts";
import {
  blockOf,
  called,
  chatBody,
  SEALING,
  type Sealing,
  thinkingConfig,
  thinkingGateway,
  USER,
} from "./thinking_gateway.ts";

const THOUGHT = { text: "it rains often", seal: "seal-1" };
const REASONED = { reasoning_content: THOUGHT.text };

function gateway(sealing: Sealing) {
  return thinkingGateway(NO_STORE + thinkingConfig(sealing), sealing, [THOUGHT]);
}

for (const sealing of SEALING) {
  Deno.test(`without a store the reasoning of a tool call is not stored over ${sealing}`, async () => {
    for (const stream of [false, true]) {
      const calls = gateway(sealing);
      const first = await calls.post("/chat/completions", chatBody([USER], { stream }));
      assertEquals(first.status, 200, first.text);
      assertNothingStored(calls);
      await calls.post("/chat/completions", chatBody([USER, ...called({})]));
      assert(!calls.requests[1]?.body.includes(THOUGHT.seal), calls.requests[1]?.body);
    }
  });

  Deno.test(`without a store the header names the reasoning of an earlier turn that is lost over ${sealing}`, async () => {
    const calls = gateway(sealing);
    await calls.post("/chat/completions", chatBody([USER]));
    const messages = [USER, ...called(REASONED), USER];
    const next = await calls.post("/chat/completions", chatBody(messages));
    assertEquals(next.status, 200, next.text);
    assertEquals(next.headers.get("x-gateway-lossy"), "messages[1].reasoning_content");
  });
}

Deno.test("without a store the reasoning of a running tool loop is left out and named", async () => {
  const messages = [USER, ...called(REASONED)];
  const path = "messages[1].reasoning_content";
  for (const wire of ["messages", "responses"] as const) {
    const calls = gateway(wire);
    await calls.post("/chat/completions", chatBody([USER]));
    const served = await calls.post("/chat/completions", chatBody(messages));
    assertEquals([served.status, served.headers.get("x-gateway-lossy")], [200, path]);
  }
});

Deno.test("without a store a chat client keeps its thinking by sending thinking_blocks back", async () => {
  const calls = gateway("messages");
  await calls.post("/chat/completions", chatBody([USER]));
  const thinking_blocks = [blockOf("messages", THOUGHT)];
  const next = await calls.post(
    "/chat/completions",
    chatBody([USER, ...called({ ...REASONED, thinking_blocks })]),
  );
  assertEquals([next.status, next.headers.get("x-gateway-lossy")], [200, null], next.text);
  assert(calls.requests[1]?.body.includes(THOUGHT.seal));
});

Deno.test("without a store a Responses client keeps its thinking by sending encrypted_content back", async () => {
  const tools = [{ type: "function", name: "f" }];
  const calls = gateway("messages");
  const first = await calls.post("/responses", { model: "m", input: "Weather?", tools });
  const output = objectsAt(first.json, "output");
  const reasoning = output.find(({ type }) => type === "reasoning");
  assert(reasoning !== undefined && textAt(reasoning, "encrypted_content") !== "");
  const result = { type: "function_call_output", call_id: "call_1", output: "sunny" };
  const input = [{ role: "user", content: "Weather?" }, ...output, result];
  const second = await calls.post("/responses", { model: "m", input, tools });
  assertEquals(second.status, 200, second.text);
  assert(calls.requests[1]?.body.includes(THOUGHT.seal), calls.requests[1]?.body);
  assertNothingStored(calls);
});
