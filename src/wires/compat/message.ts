import type { StreamEvent } from "../../core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Optional } from "../../prompt/refusals.ts";
import type { IdSource } from "../wire.ts";
import { newCallReader } from "./calls.ts";
import { newDetailsReader, signatureEvent, signatureIn } from "./host_reasoning.ts";
import { malformed } from "../openai/errors.ts";

type Events = Result<readonly StreamEvent[]>;

/** Parses one assistant message, complete or in deltas. */
export interface MessageReader {
  /**
   * Returns the events of a message or of the next delta. `text` is the JSON text that contains it.
   */
  read(message: JsonObject, text: string): Events;
  /**
   * Returns the events of calls that waited for an ID, and of `reasoning_details`. Fails if a call
   * has no name.
   */
  end(): Events;
  /** Returns the number of tool calls so far. */
  calls(): number;
  /** Returns the bytes that are held of the calls. */
  heldBytes(): number;
}

/**
 * Returns the parser of one assistant message. Servers use several forms: reasoning under two field
 * names, content as a string or as parts.
 */
export function newMessageReader(idSource: IdSource, form: "whole" | "deltas"): MessageReader {
  const calls = newCallReader(idSource, form);
  const details = newDetailsReader();

  return {
    read(message, text) {
      details.read(message.reasoning_details);
      const content = parseContent(message.content);
      if (!content.ok) return content;
      const called = calls.read(message, text);
      if (!called.ok) return called;
      const signature = signatureIn(message);
      return success([
        ...textEvents("reasoning", message.reasoning_content || message.reasoning),
        ...content.value,
        ...textEvents("refusal", message.refusal),
        ...parseAnnotations(message.annotations),
        ...signature === null ? [] : [signatureEvent(signature, null)],
        // Clients that send the details back get them before the call that needs them.
        ...called.value.some(({ type }) => type === "tool_call") ? details.take() : [],
        ...called.value,
      ]);
    },
    end() {
      const last = calls.end();
      return last.ok ? success([...last.value, ...details.take()]) : last;
    },
    calls: () => calls.count(),
    heldBytes: () => calls.heldBytes() + details.heldChars(),
  };
}

function textEvents(type: "text" | "refusal" | "reasoning", given: Optional): StreamEvent[] {
  return typeof given === "string" && given !== "" ? [{ type, delta: given }] : [];
}

function parseContent(content: Optional): Result<readonly StreamEvent[]> {
  if ((content ?? null) === null) return success([]);
  if (typeof content === "string") return success(textEvents("text", content));
  if (!Array.isArray(content)) return malformed("content that is neither a text nor parts");
  const events: StreamEvent[] = [];
  for (const part of content) {
    const partEvents = parsePart(part);
    if (partEvents === null) return malformed("a content part that has no place in a message");
    events.push(...partEvents);
  }
  return success(events);
}

function parsePart(part: JsonValue): readonly StreamEvent[] | null {
  if (!isObject(part)) return null;
  switch (part.type) {
    case "text":
    case "output_text":
      return textEvents("text", part.text);
    case "refusal":
      return textEvents("refusal", part.refusal);
    default:
      return null;
  }
}

function parseAnnotations(given: Optional): readonly StreamEvent[] {
  return Array.isArray(given)
    ? given.filter(isObject).map((value) => ({ type: "annotation", value }))
    : [];
}
