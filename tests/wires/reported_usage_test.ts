import type { JsonObject } from "../../src/core/json/json.ts";
import { parseUsage as parseMessagesUsage } from "../../src/wires/messages/response.ts";
import { parseUsage } from "../../src/wires/openai/chat_usage.ts";
import { parseResponseUsage } from "../../src/wires/openai/responses_usage.ts";
import { mergeUsage, reportedUsage } from "../../src/wires/reported_usage.ts";
import { usageFrom } from "../../src/wires/token_counts.ts";
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

Deno.test("counts of a later report replace earlier ones, but do not shrink", () => {
  const earlier = usageFrom({ input: 1_000, output: 100, total: 1_300, cached: 900 });
  assert(earlier !== null);
  const later = (input: number | null, output: number | null, total?: number) =>
    usageFrom({ input, output, ...total !== undefined && { total } });
  // A report that has nothing new changes nothing, the total included.
  for (const report of [null, later(0, 0), later(null, 50), later(10, null)]) {
    assert(mergeUsage(earlier, report) === earlier);
  }
  const same = mergeUsage(earlier, later(1_000, 100));
  assertEquals([same?.total, same?.cached], [1_300, 900]);
  const grown = mergeUsage(earlier, later(1_000, 400));
  assertEquals([grown?.output, grown?.cached, grown?.total], [400, 900, 1_400]);
  assertEquals(mergeUsage(earlier, later(1_100, 400, 2_000))?.total, 2_000);
  const early = { ...earlier, isEarly: true } as const;
  const last = mergeUsage(early, later(null, 2));
  assertEquals([last?.output, last?.total, last?.isEarly], [2, 1_002, undefined]);
  const tier = mergeUsage({ ...earlier, serviceTier: "priority" }, later(1_100, 400));
  assertEquals(tier?.serviceTier, "priority");
});

Deno.test("input of which a part that counts apart is invalid is unknown, not less", () => {
  for (const part of ["cache_read_input_tokens", "cache_creation_input_tokens"]) {
    const usage = { input_tokens: 3, output_tokens: 5, [part]: 5_000_000_000 };
    const read = parseMessagesUsage(usage);
    assert(read.ok);
    for (const counts of [read.value, reportedUsage({ usage })]) {
      assertEquals([counts?.unknown, counts?.output], ["input", 5]);
    }
    for (const absent of [null, undefined]) {
      assertEquals(reportedUsage({ usage: { ...usage, [part]: absent } as JsonObject })?.input, 3);
    }
  }
});
