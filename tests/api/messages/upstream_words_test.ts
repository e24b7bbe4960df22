import { upstreamWords } from "../../../src/api/messages/upstream_words.ts";
import { assertEquals } from "../../support/assert.ts";

const SENTENCE =
  "max_tokens: 128000 > 16384, which is the maximum allowed number of output tokens for this model";

Deno.test("texts about a token limit that is too large become the sentence that clients repair", () => {
  const texts = [
    "max_tokens is too large: 128000. This model supports at most 16384 completion tokens, whereas you provided 128000.",
    "max_completion_tokens is too large: 128000. This model supports at most 16384 completion tokens.",
    "Invalid 'max_tokens': integer above maximum value. Expected a value <= 16384, but got 128000 instead.",
    "Invalid 'max_output_tokens': expected a value <= 16384, but got 128000",
    "max_tokens 128000: the maximum value for max_tokens is less than or equal to 16384",
    "Got 128000; the maximum value for `max_tokens` is less than or equal to `16384`",
  ];
  for (const text of texts) assertEquals(upstreamWords(text, 128_000), SENTENCE);
});

Deno.test("the sentence has the number of the request if the provider states only the largest one", () => {
  const texts = [
    "the largest `max_tokens` is 16384",
    "The maximum allowed max_tokens value is 16384.",
    "the maximum value for max_tokens is less than or equal to 16384",
    "`max_tokens` must be less than or equal to `16384`, the maximum value for `max_tokens` is less than the `context_window` for this model",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 16384]",
    "Range of max_tokens should be [1, 16384]",
  ];
  for (const text of texts) assertEquals(upstreamWords(text, 128_000), SENTENCE);
});

Deno.test("a request below the stated largest number keeps the provider's message", () => {
  const text = "the largest `max_tokens` is 16384";
  for (const requested of [16_384, 64]) assertEquals(upstreamWords(text, requested), text);
});

Deno.test("every other text stays as it is", () => {
  const texts = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "Invalid 'temperature': expected a value <= 2, but got 3",
    "the maximum value for max_tokens is less than or equal to 16384",
    "the maximum value for max_tokens is less than or equal to 16384, not 5",
    "max_tokens is too large",
    "max_tokens is of the largest kind of field, and 5 is below 16384",
    "",
  ];
  for (const text of texts) assertEquals(upstreamWords(text, 64), text);
});

Deno.test("a long text that repeats the beginnings of a pattern stays as it is", () => {
  const text = "max_tokens is too large: 1".repeat(40_000) +
    "expected a value <= 1".repeat(40_000) +
    "largest x max_tokens y".repeat(40_000);
  assertEquals(upstreamWords(text, 64), text);
});
