import { newNativeRelay } from "../../../../src/api/responses/native/relay.ts";
import { fault } from "../../../../src/core/failure/result.ts";
import { isObject, type JsonObject, parseJson } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { NATIVE_RECORDS } from "./native_recording.ts";
import {
  CREATED,
  DELTA,
  delta,
  failureIn,
  lifecycle,
  relayed,
  type Relaying,
  sse,
} from "./native_stream.ts";

/** An item that is done. */
function done(sequence: number, index: number, text: string): string {
  return sse({
    type: "response.output_item.done",
    sequence_number: sequence,
    output_index: index,
    item: {
      id: `msg_${index}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
    },
  });
}

/** The failure of a stream that breaks behind this text. */
async function failureAfter(text: string, sequence: number, how?: Relaying): Promise<JsonObject> {
  const answer = await relayed(text, how);
  return failureIn(answer.text.slice(text.length), sequence);
}

Deno.test("a failure of a stream without response ID gets a new ID", async () => {
  const { id, created_at, model, output } = await failureAfter(sse(delta(4)), 5);
  assertEquals<unknown>([id, created_at, model, output], ["resp_new", 9, "m", []]);
});

Deno.test("a failure has the response ID of any earlier event", async () => {
  const named = sse(delta(4, { response_id: "resp_7" }));
  assertEquals<unknown>((await failureAfter(named, 5)).id, "resp_7");
});

Deno.test("a failure repeats the fields that the stream sent for its response", async () => {
  const before = NATIVE_RECORDS.slice(0, 2).join("") + sse(delta(4));
  const { text } = await relayed(before);
  assert(text.includes('"created_at":1741476777.0,"completed_at":null,"status":"failed"'), text);
  assert(text.includes('"x":{"b":12345678901234567890,"a":1}'), text);
  const { id, model, usage, output } = failureIn(text.slice(before.length), 5);
  assertEquals<unknown>([id, model, usage, output], ["resp_1", "gpt-x", null, []]);
});

Deno.test("fields of the stream cannot override the failure", async () => {
  const shown = {
    completed_at: 5,
    error: { code: "other", message: "x" },
    incomplete_details: { reason: "max_output_tokens" },
    usage: { input_tokens: 1 },
    output: [{ odd: true }],
    created_at: "now",
    model: 5,
    metadata: null,
  };
  const failed = await failureAfter(sse(lifecycle("response.created", 0, shown)) + DELTA, 2);
  assertEquals<unknown>(
    [failed.completed_at, failed.incomplete_details, failed.usage, failed.output],
    [null, null, null, []],
  );
  assertEquals<unknown>([failed.created_at, failed.model, failed.metadata], [9, "m", {}]);
});

Deno.test("a response that is nested too deeply is not repeated in the failure", async () => {
  const levels = 10_000;
  const deep = `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const created = CREATED.replace('"output"', `"x":${deep},"output"`);
  assertEquals<unknown>((await failureAfter(created + DELTA, 2)).x, undefined);
});

Deno.test("a failure holds the completed items, in output order and unchanged", async () => {
  const second = done(2, 1, "zwei").replace('"zwei"', '"zwe\\u0069"');
  const { text } = await relayed(CREATED + second + done(3, 0, "eins") + DELTA);
  assert(text.includes("zwe\\u0069"));
  const { output } = failureIn(text.slice(-3000), 4);
  assert(Array.isArray(output));
  assertEquals(output.map((item) => isObject(item) ? item.id : null), ["msg_0", "msg_1"]);
  assertEquals(text.split("zwe\\u0069").length, 3);
});

Deno.test("items of more than 16 MiB are left out of a failure", async () => {
  const large = "x".repeat(3 * 1024 * 1024);
  const items = (count: number) =>
    Array.from({ length: count }, (_, at) => done(at + 1, at, large)).join("");
  const five = await failureAfter(CREATED + items(5), 6);
  assertEquals(Array.isArray(five.output) && five.output.length, 5);
  assertEquals<unknown>((await failureAfter(CREATED + items(6) + done(8, 7, "x"), 9)).output, []);
});

Deno.test("a failure has the ID of the local conversation", async () => {
  for (const conversation of [null, { id: "conv_x" }]) {
    const before = sse(lifecycle("response.created", 0, { conversation })) + DELTA;
    const { text } = await relayed(before, { conversation: "conv_1" });
    const [created] = text.split("\n\n");
    assert(created?.includes('"conversation":{"id":"conv_1"}'));
    assertEquals<unknown>(failureIn(text.slice(-2000), 2).conversation, { id: "conv_1" });
  }
});

Deno.test("the sequence number after the largest exact integer is still larger", async () => {
  const most = Number.MAX_SAFE_INTEGER;
  await failureAfter(sse(delta(most)), most + 1);
});

Deno.test("a relay fails once, and never after its terminal event", () => {
  const failure = fault("upstream_idle", "Silent.").failure;
  const options = {
    conversation: null,
    storesNothing: false,
    expected: null,
    newId: () => "resp_new",
    unix: () => 9,
    model: "m",
  };
  const record = (event: JsonObject) => ({
    event: null,
    data: JSON.stringify(event),
    raw: null,
  });
  const created = record(lifecycle("response.created", 0));
  const failing = newNativeRelay(options);
  assertEquals(failing.push(created), { ok: true, value: [created] });
  const [last, ...more] = failing.fail(failure);
  assertEquals(more, []);
  const event = parseJson(last?.data ?? "");
  assert(isObject(event) && isObject(event.response));
  assertEquals<unknown>([event.sequence_number, event.response.id], [1, "resp_1"]);
  assertEquals([failing.done(), failing.outcome(), failing.fail(failure)], [true, null, []]);
  assertEquals(failing.push(record(delta(5))), { ok: true, value: [] });

  const complete = newNativeRelay(options);
  assertEquals(complete.push(record(lifecycle("response.completed", 0))).ok, true);
  assertEquals([complete.done(), complete.end()], [true, { ok: true, value: [] }]);
  // Its terminal may be one that could not be sent: the failure takes its place and its number.
  const [instead, ...others] = complete.fail(failure);
  assertEquals(others, []);
  const replaced = parseJson(instead?.data ?? "");
  assert(isObject(replaced));
  assertEquals<unknown>([replaced.type, replaced.sequence_number], ["response.failed", 0]);
  assertEquals([complete.outcome(), complete.fail(failure)], [null, []]);
  assertEquals(complete.end(), { ok: true, value: [] });
});
