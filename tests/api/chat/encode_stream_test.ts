import { type ChatEncoderOptions, newChatEncoder } from "../../../src/api/chat/encode_stream.ts";
import type { FinishReason, StreamEvent } from "../../../src/core/stream/events.ts";
import type { StreamRecord } from "../../../src/core/stream/reply.ts";
import { fault } from "../../../src/core/failure/result.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const OPTIONS: ChatEncoderOptions = {
  id: "chatcmpl-1",
  created: 7,
  model: "asked",
  includeUsage: false,
  legacyFunctions: false,
};
const USAGE = { input: 3, output: 40, total: 43, cached: 1, cacheWrite: 2, reasoning: 4 };
const HI: StreamEvent = { type: "text", delta: "Hi" };
const CALL: StreamEvent = { type: "tool_call", index: 0, id: "c1", name: "f" };

function finish(reason: FinishReason): StreamEvent {
  return { type: "finish", reason };
}

/** Everything that the events and the end give. */
function recordsOf(
  events: readonly StreamEvent[],
  options: Partial<ChatEncoderOptions> = {},
): readonly StreamRecord[] {
  const encoder = newChatEncoder({ ...OPTIONS, ...options });
  const steps = [...events.map((event) => encoder.push(event)), encoder.end()];
  assertEquals(encoder.done(), true);
  return steps.flatMap((step) => {
    assert(step.ok);
    return [...step.value];
  });
}

/** The data of all records but the last, which must be `[DONE]`. */
function chunksOf(
  events: readonly StreamEvent[],
  options: Partial<ChatEncoderOptions> = {},
) {
  const records = recordsOf(events, options);
  assertEquals(records.at(-1), { event: null, data: "[DONE]", raw: null });
  return records.slice(0, -1).map(({ data }) => JSON.parse(data));
}

/** The deltas, without those of the role and the finish. */
function deltasOf(events: readonly StreamEvent[], options: Partial<ChatEncoderOptions> = {}) {
  const chunks = chunksOf([...events, finish("tool_calls")], options);
  return chunks.slice(1, -1).map(({ choices }) => choices[0].delta);
}

function chunk(delta: unknown, finish_reason: string | null = null) {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 7,
    model: "asked",
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  };
}

Deno.test("a stream consists of a role, the content, a finish and [DONE]", () => {
  assertEquals(chunksOf([HI, finish("stop")]), [
    chunk({ role: "assistant", content: "" }),
    chunk({ content: "Hi" }),
    chunk({}, "stop"),
  ]);
});

Deno.test("a stream carries the upstream's model and creation time, never its ID", () => {
  const start: StreamEvent = { type: "start", id: "msg_1", model: "told", created: 9 };
  for (const one of chunksOf([start, HI, finish("stop")], { includeUsage: true })) {
    assertEquals([one.id, one.model, one.created], ["chatcmpl-1", "told", 9]);
  }
  const silent: StreamEvent = { type: "start", id: "", model: "", created: 0 };
  assertEquals(chunksOf([silent, finish("stop")])[0], chunk({ role: "assistant", content: "" }));
});

Deno.test("hub events without content give no chunk", () => {
  const encoder = newChatEncoder(OPTIONS);
  const events: readonly StreamEvent[] = [
    { type: "start", id: "a", model: "m", created: 1 },
    { type: "text", delta: "" },
    { type: "refusal", delta: "" },
    { type: "reasoning", delta: "" },
    { type: "usage", usage: USAGE },
    finish("stop"),
  ];
  for (const event of events) assertEquals(encoder.push(event), { ok: true, value: [] });
  assertEquals(encoder.done(), false);
});

Deno.test("each kind of event has its delta", () => {
  const block = { type: "thinking", thinking: "hm", signature: "s" };
  const citation = { type: "url_citation" };
  assertEquals(
    deltasOf([
      { type: "reasoning", delta: "hm" },
      { type: "thinking_block", value: block },
      HI,
      { type: "annotation", value: citation },
      { type: "refusal", delta: "no" },
      CALL,
      { type: "tool_arguments", index: 0, delta: "" },
      { type: "tool_arguments", index: 0, delta: "{}" },
      { type: "tool_call", index: 1, id: "c2", name: "g" },
    ]),
    [
      { reasoning_content: "hm" },
      { thinking_blocks: [block] },
      { content: "Hi" },
      { annotations: [citation] },
      { refusal: "no" },
      {
        tool_calls: [{
          index: 0,
          id: "c1",
          type: "function",
          function: { name: "f", arguments: "" },
        }],
      },
      { tool_calls: [{ index: 0, function: { arguments: "{}" } }] },
      {
        tool_calls: [{
          index: 1,
          id: "c2",
          type: "function",
          function: { name: "g", arguments: "" },
        }],
      },
    ],
  );
});

Deno.test("a tool call with complete arguments is one chunk", () => {
  const call: StreamEvent = { ...CALL, arguments: '{"a":1.0}' };
  const called = { name: "f", arguments: '{"a":1.0}' };
  assertEquals(deltasOf([call]), [
    { tool_calls: [{ index: 0, id: "c1", type: "function", function: called }] },
  ]);
  assertEquals(deltasOf([call], { legacyFunctions: true }), [{ function_call: called }]);
});

Deno.test("the service tier is sent with the finish, also without include_usage", () => {
  const usage: StreamEvent = { type: "usage", usage: { ...USAGE, serviceTier: "priority" } };
  const events = [HI, usage, finish("stop")];
  assertEquals(chunksOf(events).map((one) => one.service_tier), [undefined, undefined, "priority"]);
  const asked = chunksOf(events, { includeUsage: true });
  assertEquals(asked.slice(-2).map((one) => one.service_tier), ["priority", "priority"]);
});

Deno.test("usage is one last chunk with include_usage, at whatever position the upstream sent it", () => {
  const usage: StreamEvent = { type: "usage", usage: { ...USAGE, output: 1 } };
  const last: StreamEvent = { type: "usage", usage: USAGE };
  for (const events of [[usage, HI, last, finish("stop")], [HI, finish("stop"), usage, last]]) {
    const chunks = chunksOf(events, { includeUsage: true });
    assertEquals(chunks.slice(0, -1).map((one) => one.usage), [null, null, null]);
    assertEquals(chunks.at(-1), {
      ...chunk({}),
      choices: [],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 40,
        total_tokens: 43,
        prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    });
    assertEquals(chunksOf(events).some((one) => "usage" in one), false);
  }
});

Deno.test("a stream without upstream usage has no usage chunk", () => {
  const chunks = chunksOf([HI, finish("stop")], { includeUsage: true });
  assertEquals(chunks.map((one) => one.usage), [null, null, null]);
});

Deno.test("a client of functions gets its one call as function_call", () => {
  const events: readonly StreamEvent[] = [CALL, { type: "tool_arguments", index: 0, delta: "{}" }];
  const options = { legacyFunctions: true };
  assertEquals(deltasOf(events, options), [
    { function_call: { name: "f", arguments: "" } },
    { function_call: { arguments: "{}" } },
  ]);
  const last = chunksOf([...events, finish("tool_calls")], options).at(-1);
  assertEquals(last.choices[0].finish_reason, "function_call");
  const encoder = newChatEncoder({ ...OPTIONS, ...options });
  encoder.push(CALL);
  const second = encoder.push({ ...CALL, index: 1 });
  assert(!second.ok);
  assertEquals<unknown>(second.failure.kind, "invalid_upstream_response");
});

Deno.test("a response without a finish, or with arguments of an unknown call, is a failure", () => {
  const encoder = newChatEncoder(OPTIONS);
  const stray = encoder.push({ type: "tool_arguments", index: 0, delta: "{}" });
  for (const step of [stray, encoder.end()]) {
    assert(!step.ok);
    assertEquals<unknown>(step.failure.kind, "invalid_upstream_response");
  }
});

Deno.test("a stream that breaks ends in one error chunk, without the upstream's words", () => {
  const encoder = newChatEncoder(OPTIONS);
  encoder.push(HI);
  const [error, done, ...rest] = encoder.fail(fault("upstream_idle", "secret").failure);
  const body = JSON.parse(error?.data ?? "");
  assertEquals(Object.keys(body), ["error"]);
  assertEquals({ ...body.error, message: "" }, {
    message: "",
    type: "upstream_error",
    param: null,
    code: "upstream_stream_error",
  });
  assertEquals(body.error.message.includes("secret"), false);
  assertEquals([done?.data, rest.length], ["[DONE]", 0]);
});

Deno.test("a stream has one terminal, whatever the upstream sends after it", () => {
  const broken = fault("upstream_idle", "x").failure;
  const complete = newChatEncoder(OPTIONS);
  complete.push(finish("stop"));
  complete.end();
  assertEquals(complete.end(), { ok: true, value: [] });
  // Its terminal may be one that could not be sent: the failure takes its place.
  assertEquals(complete.fail(broken).length, 2);
  assertEquals(complete.fail(broken), []);
  const failed = newChatEncoder(OPTIONS);
  failed.fail(broken);
  assertEquals(failed.fail(broken), []);
});

Deno.test("of a long model name each chunk has the beginning", () => {
  const start: StreamEvent = { type: "start", id: "i", model: "m".repeat(1000), created: 7 };
  const long = { model: "a".repeat(1000) };
  const models = (events: readonly StreamEvent[]) =>
    new Set(chunksOf([...events, HI, finish("stop")], long).map(({ model }) => model));
  assertEquals(models([]), new Set(["a".repeat(256)]));
  assertEquals(models([start]), new Set(["m".repeat(256)]));
});
