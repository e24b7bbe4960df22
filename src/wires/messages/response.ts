import { malformed } from "../openai/errors.ts";
import type { FinishReason, StreamEvent, Usage } from "../../core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { IdSource } from "../wire.ts";
import type { Optional } from "../../prompt/refusals.ts";
import { mergeUsage } from "../reported_usage.ts";
import { countOrZero, fractionProblem, sumOf, tokenCount, usageFrom } from "../token_counts.ts";

/** Refusal text for a response whose model refused without a reason. */
const DEFAULT_REFUSAL = "The model refused to answer.";

/** Returns the first event of a message. */
export function decodeStart(message: JsonObject, idSource: IdSource): StreamEvent {
  const { id, model } = message;
  return {
    type: "start",
    id: typeof id === "string" ? id : "",
    model: typeof model === "string" ? model : "",
    created: idSource.unix(),
  };
}

const COUNTS = [
  "input_tokens",
  "output_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
];

const OUTPUT_DETAILS = ["thinking_tokens"];

/** The members of a usage object that are read. */
const USAGE_MEMBERS = [...COUNTS, "output_tokens_details", "service_tier"];

/**
 * Returns the token counts; null if there are none, because counts are never estimated. The three
 * input counts do not overlap, so their sum is the input (Messages API, usage). A fractional count
 * is a fault.
 */
export function parseUsage(given: Optional): Result<Usage | null> {
  if (!isObject(given)) return success(null);
  const { output_tokens_details: details } = given;
  const problem = fractionProblem(given, COUNTS) ?? fractionProblem(details, OUTPUT_DETAILS);
  if (problem !== null) return problem;
  const cached = countOrZero(given.cache_read_input_tokens);
  const cacheWrite = countOrZero(given.cache_creation_input_tokens);
  const usage = usageFrom({
    input: sumOf(tokenCount(given.input_tokens), cached, cacheWrite),
    output: tokenCount(given.output_tokens),
    cached,
    cacheWrite,
    reasoning: isObject(details) ? tokenCount(details.thinking_tokens) : null,
  });
  return success(usage === null ? null : { ...usage, ...serviceTierOf(given.service_tier) });
}

/**
 * Returns the reader of the counts in a stream, whose records have some members each. The output of
 * the first one is early: it counts until a `message_delta` has one.
 */
export function newStreamUsage() {
  /** The latest value of each member that is read; others would use memory. */
  let latest: JsonObject | null = null;
  let isEarly = true;
  let usage: Usage | null = null;

  function add(given: Optional): void {
    if (!isObject(given)) return;
    const known = USAGE_MEMBERS.filter((key) =>
      COUNTS.includes(key) ? numberOf(given[key]) !== null : (given[key] ?? null) !== null
    );
    latest = { ...latest, ...Object.fromEntries(known.map((key) => [key, given[key]])) };
    const counted = parseUsage(latest);
    if (!counted.ok || counted.value === null) return;
    usage = mergeUsage(usage, isEarly ? { ...counted.value, isEarly } : counted.value);
  }

  return {
    start: add,
    delta(given: Optional): void {
      if (isObject(given) && tokenCount(given.output_tokens) !== null) isEarly = false;
      add(given);
    },
    /** Returns the counts so far, without invalid ones. */
    counted: (): Usage | null => usage,
    /** Returns the counts at the end of the stream; a fault if they are fractional. */
    end(): Result<Usage | null> {
      const read = parseUsage(latest);
      return read.ok ? success(usage) : read;
    },
  };
}

function serviceTierOf(given: Optional): Pick<Usage, "serviceTier"> {
  if (given === "standard") return { serviceTier: "default" };
  return given === "priority" ? { serviceTier: "priority" } : {};
}

/**
 * Returns the last events of a response: refusal text, usage and finish. Fails on a missing or
 * unknown stop reason, because the response may be incomplete, and on fractional usage.
 */
export function decodeEnd(
  stop: { readonly reason: Optional; readonly details: Optional },
  usage: Result<Usage | null>,
  hasCalls: boolean,
): Result<readonly StreamEvent[]> {
  const finish = parseFinishReason(stop.reason, hasCalls);
  if (finish === null) return malformed("a response without a known stop reason");
  if (!usage.ok) return usage;
  const events: StreamEvent[] = [];
  if (stop.reason === "refusal") {
    const explanation = isObject(stop.details) ? stop.details.explanation : null;
    const isGiven = typeof explanation === "string" && explanation !== "";
    events.push({ type: "refusal", delta: isGiven ? explanation : DEFAULT_REFUSAL });
  }
  if (usage.value !== null) events.push({ type: "usage", usage: usage.value });
  return success([...events, { type: "finish", reason: finish }]);
}

function parseFinishReason(reason: Optional, hasCalls: boolean): FinishReason | null {
  switch (reason) {
    case "end_turn":
      // Some compatible servers end tool calls with a plain end of turn.
      return hasCalls ? "tool_calls" : "stop";
    case "stop_sequence":
      return "stop";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case "tool_use":
      return "tool_calls";
    case "refusal":
      return "content_filter";
    default:
      return null;
  }
}

/**
 * Returns the web citations of one text block as Chat annotations. Each covers the whole block,
 * from character `start` to `end` of the response text. Document citations have no URL and are
 * dropped.
 */
export function decodeAnnotations(
  citations: readonly JsonValue[],
  start: number,
  end: number,
): readonly StreamEvent[] {
  return citations.flatMap((citation) => {
    if (!isObject(citation) || typeof citation.url !== "string") return [];
    const title = typeof citation.title === "string" ? citation.title : "";
    const cited = { url: citation.url, title, start_index: start, end_index: end };
    return [{ type: "annotation", value: { type: "url_citation", url_citation: cited } }];
  });
}

/**
 * Returns the events of one complete thinking block. Without a signature the block cannot be sent
 * back.
 */
export function thinkingEvents(thinking: string, signature: Optional): readonly StreamEvent[] {
  if (typeof signature !== "string" || signature === "") return [];
  return [{ type: "thinking_block", value: { type: "thinking", thinking, signature } }];
}
