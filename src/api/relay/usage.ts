import type { BilledUnits } from "../../core/billed_units.ts";
import type { Usage } from "../../core/events.ts";
import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import { tokenCount, usageFrom } from "../../wires/token_counts.ts";
import type { RoutedEndpoint } from "./table.ts";

/**
 * Returns the token counts of a response or of the last event of a stream, by the names that the endpoints
 * have for them; null if it reports none. Counts that are no whole numbers are not counted.
 */
export function relayedUsage(value: JsonObject): Usage | null {
  const { usage } = value;
  if (!isObject(usage)) return null;
  const count = (...names: readonly string[]) => {
    const found = names.map((name) => tokenCount(usage[name])).find((one) => one !== null) ?? null;
    return Number.isSafeInteger(found) ? found : null;
  };
  const input = count("prompt_tokens", "input_tokens");
  const output = count("completion_tokens", "output_tokens");
  const total = count("total_tokens");
  if (input === null && output === null) {
    // Rerank and some moderation services report only a total, all of which is input.
    return total === null ? null : usageFrom({ input: total, output: 0 });
  }
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details;
  const cached = isObject(details) ? tokenCount(details.cached_tokens) : null;
  return usageFrom({ input, output: output ?? 0, total, cached });
}

/** Returns what a response is billed by if it reports no tokens; null if it is not known. */
export function relayedUnits(
  billed: RoutedEndpoint["billed"],
  { value, images, characters }: {
    readonly value: JsonObject;
    /** Number of images of the response. */
    readonly images: number;
    /** Number of characters of the request's text; null if it has none. */
    readonly characters: number | null;
  },
): BilledUnits | null {
  switch (billed) {
    case "images":
      return { images };
    case "characters":
      return characters === null ? null : { characters };
    case "seconds": {
      const seconds = lengthOf(isObject(value.usage) ? value.usage.seconds : undefined) ??
        lengthOf(value.duration) ?? lastEnd(value.segments);
      return seconds === null ? null : { seconds };
    }
    case "tokens":
    case null:
      return null;
  }
}

/** Returns the end of the last segment of a transcript in seconds; null without segments. */
function lastEnd(segments: JsonValue | undefined): number | null {
  const last = Array.isArray(segments) ? segments.at(-1) : undefined;
  return isObject(last) ? lengthOf(last.end) : null;
}

/** Returns a length in seconds, which some services send as text; null for anything else. */
function lengthOf(value: JsonValue | undefined): number | null {
  const written = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  const seconds = numberOf(written ?? null);
  return seconds !== null && Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}
