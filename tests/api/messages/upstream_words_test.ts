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
  for (const text of texts) assertEquals(upstreamWords(text), SENTENCE);
});

Deno.test("every other text stays as it is", () => {
  const texts = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens.",
    "Invalid 'temperature': expected a value <= 2, but got 3",
    "the maximum value for max_tokens is less than or equal to 16384",
    "the maximum value for max_tokens is less than or equal to 16384, not 5",
    "max_tokens is too large",
    "",
  ];
  for (const text of texts) assertEquals(upstreamWords(text), text);
});

Deno.test("a long text that repeats the beginnings of a pattern stays as it is", () => {
  const text = "max_tokens is too large: 1".repeat(40_000) + "expected a value <= 1".repeat(40_000);
  assertEquals(upstreamWords(text), text);
});
