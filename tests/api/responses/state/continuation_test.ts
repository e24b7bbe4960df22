import { assert, assertEquals } from "../../../support/assert.ts";
import { CLOCKED_STORES, testOverStores } from "../../../support/over_stores.ts";
import { objectsAt, refusalOf } from "../../../support/state_call.ts";
import { idOf, messagesOf, stateful, TWO } from "../stateful.ts";

const MINUTE_MS = 60_000;

testOverStores("a continuation sends all earlier items, oldest first", async () => {
  const calls = stateful();
  const first = await calls.created({ input: "one" });
  const second = await calls.created({ input: "two", previous_response_id: idOf(first) });
  assertEquals(second.previous_response_id, first.id ?? null);
  await calls.created({ input: "three", previous_response_id: idOf(second), stream: true });
  assertEquals(messagesOf(calls, 3), [
    "user: one",
    "assistant: answer 1",
    "user: two",
    "assistant: answer 2",
    "user: three",
  ]);
});

testOverStores("a streamed response is continued like any other", async () => {
  const calls = stateful();
  const first = await calls.created({ input: "one", stream: true });
  await calls.created({ input: "two", previous_response_id: idOf(first) });
  assertEquals(messagesOf(calls, 2), ["user: one", "assistant: answer 1", "user: two"]);
});

Deno.test("instructions and tools are not carried over", async () => {
  const calls = stateful();
  const tools = [{ type: "function", name: "f", parameters: { type: "object" } }];
  const first = await calls.created({ input: "one", instructions: "Be brief.", tools });
  assertEquals(messagesOf(calls, 1), ["system: Be brief.", "user: one"]);
  await calls.created({ input: "two", previous_response_id: idOf(first) });
  assertEquals(messagesOf(calls, 2), ["user: one", "assistant: answer 1", "user: two"]);
  assertEquals(calls.requests[1]?.body.tools, undefined);
});

Deno.test("the result of a tool call is sent with the next request", async () => {
  const call = { id: "call_1", type: "function", function: { name: "f", arguments: "{}" } };
  const calls = stateful(
    TWO,
    ({ body }) =>
      Array.isArray(body.tools)
        ? { message: { content: null, tool_calls: [call] }, finish: "tool_calls" }
        : {},
  );
  const tools = [{ type: "function", name: "f", parameters: { type: "object" } }];
  const first = await calls.created({ input: "one", tools });
  const output = { type: "function_call_output", call_id: "call_1", output: "4" };
  await calls.created({ input: [output], previous_response_id: idOf(first) });
  const messages = objectsAt(calls.requests[1]?.body ?? {}, "messages");
  assertEquals(messages.map(({ role }) => role), ["user", "assistant", "tool"]);
  assertEquals(objectsAt(messages[1] ?? {}, "tool_calls")[0]?.id, "call_1");
  assertEquals(messages[2]?.tool_call_id, "call_1");
});

Deno.test(
  "an incomplete response is stored, but its truncated item cannot be sent",
  async () => {
    const calls = stateful(TWO, () => ({ finish: "length" }));
    const first = await calls.created({ input: "one" });
    assertEquals(first.status, "incomplete");
    assertEquals((await calls.get(`/responses/${idOf(first)}`)).json, first);
    const answer = await calls.post("/responses", {
      model: "m",
      input: "two",
      previous_response_id: idOf(first),
    });
    const path = "previous_response_id.items[1].status";
    assertEquals(refusalOf(answer), [400, "unsupported_feature", path]);
    assertEquals(calls.requests.length, 1);
  },
);

testOverStores("an unknown, deleted or unstored response cannot be continued", async () => {
  const calls = stateful();
  const expected = [400, "previous_response_not_found", "previous_response_id"];
  const unstored = idOf(await calls.created({ input: "one", store: false }));
  const deleted = idOf(await calls.created({ input: "one" }));
  await calls.delete(`/responses/${deleted}`);
  const requests = calls.requests.length;
  for (const previous of ["resp_none", unstored, deleted]) {
    const body = { model: "m", input: "two", previous_response_id: previous };
    assertEquals(refusalOf(await calls.post("/responses", body)), expected);
  }
  assertEquals(calls.requests.length, requests);
});

Deno.test("a padded or empty previous response is refused by name", async () => {
  const calls = stateful();
  for (const previous of ["", " resp_1", "resp_1\n"]) {
    const body = { model: "m", input: "two", previous_response_id: previous };
    const expected = [400, "invalid_value", "previous_response_id"];
    assertEquals(refusalOf(await calls.post("/responses", body)), expected);
  }
});

testOverStores("a response can be continued for 30 minutes from its creation", async () => {
  const calls = stateful();
  const first = idOf(await calls.created({ input: "one" }));
  await calls.world.advance(30 * MINUTE_MS - 1);
  const second = idOf(await calls.created({ input: "two", previous_response_id: first }));
  await calls.world.advance(1);
  assertEquals((await calls.get(`/responses/${first}`)).status, 404);
  assertEquals((await calls.get(`/responses/${second}`)).status, 200);
}, CLOCKED_STORES);

testOverStores(
  "a stored response can be continued twice, each time with the same history",
  async () => {
    const calls = stateful();
    const first = idOf(await calls.created({ input: "one" }));
    await calls.created({ input: "left", previous_response_id: first });
    await calls.created({ input: "right", previous_response_id: first });
    assertEquals(messagesOf(calls, 3), ["user: one", "assistant: answer 1", "user: right"]);
  },
);

Deno.test("a failed or interrupted create stores nothing", async () => {
  const calls = stateful(
    "providers: {up: {type: compat, base_url: 'http://up'}}\n" +
      "routing: {routes: [{name: main, targets: [{provider: up}]}]}\nretry: {enabled: false}\n",
    () => ({ finish: "unheard_of" }),
  );
  const whole = await calls.post("/responses", { model: "m", input: "one" });
  assert(whole.status !== 200);
  await calls.post("/responses", { model: "m", input: "one", stream: true });
  assertEquals([
    calls.state.objects.stats().responses.entries,
    calls.state.objects.stats().response_bindings.entries,
  ], [0, 0]);
});
