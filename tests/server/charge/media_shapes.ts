import type { JsonObject } from "../../../src/core/json/json.ts";
import { DELIVERED, ERROR, none, responsesUsage, type Shape, sse } from "./shape.ts";

/** An operation whose response is a JSON object with these members and `usage`. */
export function wholeOnly(members: JsonObject, isInputOnly: boolean): Shape {
  return {
    contentType: "application/json",
    hasCached: !isInputOnly,
    stream: null,
    ...isInputOnly && { isInputOnly },
    whole: (counts, form) => ({
      ...form === "unusable" ? { error: ERROR } : members,
      usage: isInputOnly
        ? { prompt_tokens: counts.input, total_tokens: counts.input }
        : responsesUsage(counts),
    }),
  };
}

/** A relayed operation whose stream has deltas, and counts in its last event. */
export function media(family: string, delta: string, last: string, members: JsonObject): Shape {
  return {
    ...wholeOnly(members, false),
    ...last !== ".done" || family === "speech.audio" ? { hasUnits: true } : {},
    contentType: "text/event-stream",
    stream: {
      head: () => ": waiting\n\n",
      headCounts: none,
      content: (form) =>
        form === "unusable" ? "data: odd\n\n" : sse({ type: family + delta, delta: DELIVERED }),
      early: "",
      finish: "",
      other: "",
      counts: (counts) => sse({ type: family + last, usage: responsesUsage(counts) }),
      terminal: "",
      error: (counts) => sse({ type: "error", error: ERROR, usage: responsesUsage(counts) }),
    },
  };
}
