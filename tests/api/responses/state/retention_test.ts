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
