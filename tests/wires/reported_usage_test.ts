import { parseUsage } from "../../src/wires/openai/chat_usage.ts";
import { parseResponseUsage } from "../../src/wires/openai/responses_usage.ts";
import { reportedUsage } from "../../src/wires/reported_usage.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** Counts of an OpenAI API in the names of Chat Completions or of the Responses API. */
function counts(input: string, output: string) {
  return {
    [`${input}_tokens`]: 100,
    [`${output}_tokens`]: 20,
    total_tokens: 120,
    [`${input}_tokens_details`]: { cached_tokens: 40, cache_write_tokens: 30 },
    [`${output}_tokens_details`]: { reasoning_tokens: 7 },
  };
}

Deno.test("the counts of a refused or late response are those of one that is read, with the cache and the reasoning", () => {
  const chat = counts("prompt", "completion");
  const deepSeek = { prompt_tokens: 9, completion_tokens: 2, prompt_cache_hit_tokens: 6 };
  // LiteLLM's proxy writes the counts of Claude under both names.
  const proxied = { ...chat, cache_read_input_tokens: 40, cache_creation_input_tokens: 30 };
  const usages = [
    [chat, parseUsage(chat)],
    [proxied, parseUsage(proxied)],
    [deepSeek, parseUsage(deepSeek)],
    [counts("input", "output"), parseResponseUsage({ usage: counts("input", "output") })],
  ] as const;
  for (const [usage, read] of usages) {
    assert(read.ok && read.value !== null);
    assertEquals(reportedUsage({ usage }), read.value);
  }
});

Deno.test("cached tokens that a proxy adds to counts of the Responses API are within the input", () => {
  const usage = counts("input", "output");
  const more = { cache_read_input_tokens: 40, cache_creation_input_tokens: 30 };
  assertEquals(reportedUsage({ usage: { ...usage, ...more } }), reportedUsage({ usage }));
  const apart = { input_tokens: 100, output_tokens: 20, ...more };
  assertEquals(reportedUsage({ usage: apart })?.input, 170);
});
