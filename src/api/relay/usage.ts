import type { BilledUnits, Usage } from "../../core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import { reportedUsage } from "../../wires/reported_usage.ts";
import { usageFrom } from "../../wires/token_counts.ts";
import type { RoutedEndpoint } from "./table.ts";

/**
 * Returns the token counts of a response or of the last event of a stream; null if it reports none.
 */
export function relayedUsage(value: JsonObject): Usage | null {
  const usage = reportedUsage({ usage: value.usage ?? null });
  return usage?.unknown === "output" ? usageFrom({ ...usage, output: 0 }) : usage;
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

/** Returns the end of the last segment of a transcript in seconds. */
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
