import type { Usage } from "../core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { sumOf, tokenCount, usageFrom } from "./token_counts.ts";

/**
 * Returns the token counts in a response, in an event of a stream, or in an error, by the names
 * that the protocols have for them; null if it reports none. Counts that are no whole numbers are
 * not counted.
 */
export function reportedUsage(value: JsonValue | undefined): Usage | null {
  if (!isObject(value)) return null;
  const { usage, response, message } = value;
  if (isObject(usage)) return usageIn(usage);
  if (isObject(response)) return reportedUsage({ usage: response.usage ?? null });
  if (isObject(message) && isObject(message.usage)) {
    const usage = usageIn(message.usage);
    return usage === null ? null : { ...usage, isEarly: true };
  }
  return usageFrom({
    input: wholeCount(value, "prompt_eval_count"),
    output: wholeCount(value, "eval_count"),
  });
}

function usageIn(usage: JsonObject): Usage | null {
  const ownInput = wholeCount(usage, "prompt_tokens", "input_tokens");
  const output = wholeCount(usage, "completion_tokens", "output_tokens");
  const total = wholeCount(usage, "total_tokens");
  if (ownInput === null && output === null) {
    // Rerank and some moderation services report only a total, all of which is input.
    return total === null ? null : usageFrom({ input: total, output: 0 });
  }
  const inputDetails = usage.prompt_tokens_details ?? usage.input_tokens_details;
  const outputDetails = usage.completion_tokens_details ?? usage.output_tokens_details;
  // The Messages API counts cached tokens apart from the input; those that a proxy adds to
  // the names of Chat Completions or to the details of the Responses API are within it.
  const isWithin = usage.prompt_tokens !== undefined || isObject(inputDetails);
  const apart = (name: string) =>
    isWithin || (usage[name] ?? null) === null ? 0 : wholeCount(usage, name);
  const read = apart("cache_read_input_tokens");
  const written = apart("cache_creation_input_tokens");
  return usageFrom({
    input: sumOf(ownInput, read, written),
    // Embeddings have no output, and report a total without it.
    output: output ?? (ownInput === null || total === null ? null : Math.max(0, total - ownInput)),
    total,
    // DeepSeek sends this member, outside of the details.
    cached: detail(inputDetails, "cached_tokens") ??
      wholeCount(usage, "prompt_cache_hit_tokens") ?? read,
    cacheWrite: detail(inputDetails, "cache_write_tokens") ?? written,
    reasoning: detail(outputDetails, "reasoning_tokens"),
  });
}

function detail(details: JsonValue | undefined, name: string): number | null {
  return isObject(details) ? wholeCount(details, name) : null;
}

/** Returns the first whole number among members with these names. */
function wholeCount(value: JsonObject, ...names: readonly string[]): number | null {
  return names.map((name) => tokenCount(value[name])).find(Number.isSafeInteger) ?? null;
}

/**
 * Returns the counts of a response after an earlier and a later report of it. The later one may
 * lack the input, the output, or the cached input that is a part of the earlier one: counts of the
 * same response do not shrink, apart from an early output. Returns `earlier` itself if the later
 * report has nothing new.
 */
export function mergeUsage(earlier: Usage | null, later: Usage | null): Usage | null {
  if (later === null || earlier === null) return later ?? earlier;
  const isInputLess = later.input < earlier.input ||
    (later.input === earlier.input && later.cached < earlier.cached);
  const isOutputLess = later.output < earlier.output && earlier.isEarly !== true;
  const input = later.unknown === "input" || isInputLess ? earlier : later;
  const output = later.unknown === "output" || isOutputLess ? earlier : later;
  const serviceTier = later.serviceTier ?? earlier.serviceTier;
  if (input === earlier && output === earlier && serviceTier === earlier.serviceTier) {
    return earlier;
  }
  const isKnown = input.unknown !== "input" && output.unknown !== "output";
  // A provider's own total has what it counts nowhere else.
  const own = input === output ? input.total : null;
  const before = earlier.isEarly === true ? 0 : earlier.total ?? 0;
  return {
    input: input.input,
    output: output.output,
    total: isKnown ? Math.max(own ?? input.input + output.output, before) : null,
    cached: input.cached,
    cacheWrite: input.cacheWrite,
    reasoning: output.reasoning,
    ...!isKnown && { unknown: input.unknown === "input" ? "input" : "output" },
    ...output.isEarly === true && { isEarly: true },
    ...serviceTier !== undefined && { serviceTier },
  };
}

/** True for counts whose output is not only that of a beginning, as which providers send zero. */
export function hasLastOutput(usage: Usage | null): boolean {
  return usage !== null && usage.output > 0 && usage.isEarly !== true;
}
