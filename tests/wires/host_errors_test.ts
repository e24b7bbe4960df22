import { fault } from "../../src/core/failure/result.ts";
import type { Fault } from "../../src/core/failure/failure.ts";
import type { JsonObject } from "../../src/core/json/json.ts";
import { recognise } from "../../src/wires/host_errors.ts";
import { assertEquals } from "../support/assert.ts";

const DEFAULT = ["outage", "context_length"] as const;

function failed(status: number, error: JsonObject, details: Partial<Fault> = {}): Fault {
  const kind = status === 429
    ? "upstream_throttled"
    : status < 500
    ? "upstream_rejected"
    : "upstream_unavailable";
  const upstream = { status, headers: {}, error, raw: null };
  return fault(kind, "", { upstream, ...details }).failure;
}

/** Messages of hosts about a prompt that is too long, at least one for each row of the table. */
const TOO_LONG = [
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  "This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens.",
  "The prompt is longer than the maximum context length of 4096 tokens.",
  "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
  "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "prompt is too long: 213462 tokens > 200000 maximum",
  "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
  "Input is too long for requested model.",
  "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
  "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
  "Please reduce the length of the messages or completion.",
  "prompt token count of 70000 exceeds the limit of 64000",
  "the request exceeds the available context size, try increasing it",
  "The number of tokens to keep from the initial prompt is greater than the context length.",
  "prompt too long; exceeded max context length by 12 tokens",
  "the input length exceeds the context length",
  "Invalid request: Your request exceeded model token limit: 8192",
  "invalid params, context window exceeds limit",
  "model_context_window_exceeded",
];

Deno.test("each sentence about a prompt that is too long is recognised, and each code and type", () => {
  const errors: JsonObject[] = [
    ...TOO_LONG.map((message) => ({ message })),
    { message: "Too long.", code: "context_length_exceeded" },
    { message: "Too long.", type: "exceed_context_size_error" },
  ];
  for (const error of errors) {
    const found = recognise(failed(400, error), DEFAULT, true);
    assertEquals(found.kind, "context_length_exceeded", JSON.stringify(error));
  }
});

Deno.test("a rejected prompt was certainly not processed; an error within a response may have been", () => {
  const error = { message: "Too long.", code: "context_length_exceeded" };
  const mayHaveRun = (isRejected: boolean) => {
    const found = recognise(failed(400, error), DEFAULT, isRejected);
    return "mayHaveRun" in found ? found.mayHaveRun : null;
  };
  assertEquals([mayHaveRun(true), mayHaveRun(false)], [false, true]);
});

Deno.test("a prompt that is too long keeps its status of 4xx, and gets 400 in place of a 5xx", () => {
  const error = { message: "the input length exceeds the context length" };
  for (const [status, shown] of [[400, 400], [413, 413], [422, 422], [500, 400]] as const) {
    const found = recognise(failed(status, error), DEFAULT, true);
    assertEquals("upstream" in found && found.upstream?.status, shown);
  }
});

Deno.test("other errors stay what they are, also those of a rate or a key", () => {
  const error = { message: TOO_LONG[0] ?? "" };
  const keyRefusal = { kind: "rejected", status: 401, code: null } as const;
  const others = [
    failed(429, error),
    failed(401, error, { keyRefusal }),
    failed(400, { message: "max_tokens is too large: 5. This model supports at most 4." }),
    failed(400, { message: "Rate limit reached: too many tokens per minute" }),
    failed(400, { message: null, code: 400, type: null }),
    fault("upstream_timeout", "prompt is too long").failure,
  ];
  for (const other of others) assertEquals(recognise(other, DEFAULT, true), other);
});

Deno.test("a refusal by a filter is recognised only if the route falls back on it", () => {
  const errors: JsonObject[] = [
    { message: "No.", code: "content_filter" },
    { message: "No.", code: "content_policy_violation" },
    { message: "Output blocked by content filtering policy" },
    { message: "No.", code: "data_inspection_failed" },
    { message: "Content Exists Risk" },
  ];
  for (const error of errors) {
    const failure = failed(400, error);
    assertEquals(recognise(failure, DEFAULT, true), failure);
    assertEquals(recognise(failure, ["content_filter"], true).kind, "content_filtered");
  }
});

Deno.test("a long message that repeats the beginning of a sentence takes little time", () => {
  const message = "input token count ".repeat(40_000) + "maximum context length is ".repeat(40_000);
  assertEquals(recognise(failed(400, { message }), DEFAULT, true).kind, "upstream_rejected");
});

Deno.test("an error of a loop without thinking begins with its sentence, with or without a path, and has status 400", () => {
  const sentence = "Expected `thinking` or `redacted_thinking`, but found `tool_use`.";
  const isMissing = (message: string, status = 400) => {
    const found = recognise(failed(status, { message }), DEFAULT, true);
    return "isThinkingMissing" in found;
  };
  const paths = ["", "messages.1.content.0: ", "messages.13.content.0.type: "];
  assertEquals(paths.map((path) => isMissing(path + sentence)), [true, true, true]);
  assertEquals(isMissing(sentence, 422), false);
  assertEquals(isMissing(`The model says: ${sentence}`), false);
  assertEquals(isMissing("Expected `text`, but found `tool_use`."), false);
});
