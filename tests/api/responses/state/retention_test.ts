import { assert, assertEquals, assertStringIncludes } from "../../../support/assert.ts";
import { refusalOf } from "../../../support/state_call.ts";
import { idOf, type Stateful, stateful, TWO } from "../stateful.ts";

const STATE = "state: {ttl: 10m, max_entries: 2, max_bytes: 30000}\n";
const MINUTE_MS = 60_000;

/** Statuses of the retrievals of these objects. */
async function statuses(calls: Stateful, path: string, ids: readonly string[]) {
  const found = await Promise.all(ids.map((id) => calls.get(`/${path}/${id}`)));
  return found.map(({ status }) => status);
}

Deno.test("state.max_entries bounds the responses, and the conversations, in memory", async () => {
  const calls = stateful(STATE + TWO);
  const responses: string[] = [];
  const conversations: string[] = [];
  for (let at = 0; at < 3; at++) {
    responses.push(idOf(await calls.created({ input: `${at}` })));
    conversations.push(idOf((await calls.post("/conversations", {})).json));
  }
  assertEquals(await statuses(calls, "responses", responses), [404, 200, 200]);
  assertEquals(await statuses(calls, "conversations", conversations), [404, 200, 200]);
});

Deno.test("state.ttl bounds the lifetime of objects in memory", async () => {
  const calls = stateful(STATE + TWO);
  const response = idOf(await calls.created({ input: "one" }));
  const conversation = idOf((await calls.post("/conversations", {})).json);
  await calls.world.advance(10 * MINUTE_MS - 1);
  assertEquals(await statuses(calls, "responses", [response]), [200]);
  await calls.world.advance(1);
  assertEquals(await statuses(calls, "responses", [response]), [404]);
  assertEquals(await statuses(calls, "conversations", [conversation]), [404]);
});

Deno.test("state.max_bytes bounds a conversation in memory, and the refusal names it", async () => {
  const calls = stateful(STATE + TWO);
  const id = idOf((await calls.post("/conversations", {})).json);
  const input = "x".repeat(29_000);
  await calls.created({ input: "small", conversation: id });
  const refused = await calls.post("/responses", { model: "m", input, conversation: id });
  assertEquals(refusalOf(refused), [413, "state_too_large", null]);
  assertStringIncludes(refused.text, "larger than 30000 bytes;");
  assertEquals(calls.requests.length, 1);
  assert((await calls.get(`/conversations/${id}/items`)).status === 200);
});

Deno.test("state.max_items bounds a response with all before it, before the provider is called", async () => {
  const calls = stateful("state: {max_items: 4}\n" + TWO);
  const items = (count: number) => Array(count).fill({ role: "user", content: "one" });
  const full = await calls.post("/responses", { model: "m", input: items(4) });
  assertEquals(refusalOf(full), [400, "too_many_items", "input"]);
  assertStringIncludes(full.text, "at most 4 items");
  const first = await calls.created({ input: items(3) });
  const more = { model: "m", input: "two", previous_response_id: idOf(first) };
  assertEquals(refusalOf(await calls.post("/responses", more)), [400, "too_many_items", "input"]);
  assertEquals(calls.requests.length, 1);
  assertEquals((await calls.post("/responses", { ...more, store: false })).status, 200);
});

Deno.test("a response that only its output makes too large for state.max_items is not stored", async () => {
  const call = (id: string) => ({
    id,
    type: "function",
    function: { name: "tool", arguments: "{}" },
  });
  const calls = stateful("state: {max_items: 2}\n" + TWO, () => ({
    message: { role: "assistant", content: null, tool_calls: [call("call_1"), call("call_2")] },
    finish: "tool_calls",
  }));
  const response = await calls.created({ input: "one" });
  assertEquals((response.output as unknown[]).length, 2);
  assertEquals(await statuses(calls, "responses", [idOf(response)]), [404]);
});
