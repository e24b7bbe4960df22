import { malformed } from "../openai/errors.ts";
import type { StreamEvent } from "../../core/stream/events.ts";
import { isObject, type JsonText, type JsonValue, parseExact } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { MAX_CALLS, tooManyCalls } from "../../core/stream/stream.ts";
import { newCallIds } from "../call_ids.ts";
import type { IdSource } from "../wire.ts";
import {
  decodeAnnotations,
  decodeEnd,
  decodeStart,
  parseUsage,
  thinkingEvents,
} from "./response.ts";
import { reportedFault } from "./errors.ts";

/** Position of a block: the length of the text and the number of calls before it. */
interface Before {
  readonly textLength: number;
  readonly calls: number;
  /** Returns the ID of the next tool call, unique in the response. */
  readonly nameCall: (given: string) => string;
}

/**
 * Returns a complete Messages response as events. Fails on an error under status 200, on a block
 * type that has no counterpart in Chat, and on a missing or unknown stop reason.
 */
export function decode(body: JsonText, idSource: IdSource): Result<readonly StreamEvent[]> {
  const exact = parseExact(body.text, body.value);
  const message = isObject(exact) ? exact : body.value;
  if (message.type === "error") return reportedFault(message);
  if (!Array.isArray(message.content)) return malformed("a response without content");
  if (message.content.length > MAX_CALLS) return tooManyCalls();
  const events = [decodeStart(message, idSource)];
  let textLength = 0;
  let calls = 0;
  const nameCall = newCallIds(idSource);
  for (const block of message.content) {
    const read = decodeBlock(block, { textLength, calls, nameCall });
    if (!read.ok) return read;
    for (const event of read.value) {
      if (event.type === "text") textLength += event.delta.length;
      if (event.type === "tool_call") calls += 1;
      events.push(event);
    }
  }
  const stop = { reason: message.stop_reason, details: message.stop_details };
  const end = decodeEnd(stop, parseUsage(message.usage), calls > 0);
  return end.ok ? success([...events, ...end.value]) : end;
}

function decodeBlock(block: JsonValue, before: Before): Result<readonly StreamEvent[]> {
  if (!isObject(block)) return malformed("a content block that is no object");
  switch (block.type) {
    case "text": {
      const { text, citations } = block;
      if (typeof text !== "string") return malformed("a text block without text");
      const end = before.textLength + text.length;
      const cited = Array.isArray(citations) ? citations : [];
      const annotations = decodeAnnotations(cited, before.textLength, end);
      return success([{ type: "text", delta: text }, ...annotations]);
    }
    case "thinking": {
      const { thinking, signature } = block;
      if (typeof thinking !== "string") return malformed("a thinking block without thinking");
      const signed = thinkingEvents(thinking, signature);
      return success([{ type: "reasoning", delta: thinking }, ...signed]);
    }
    case "redacted_thinking":
      return success([{ type: "thinking_block", value: block }]);
    case "tool_use": {
      const { id, name, input } = block;
      if (typeof id !== "string" || typeof name !== "string" || !isObject(input)) {
        return malformed("a malformed tool call");
      }
      const index = before.calls;
      return success([
        { type: "tool_call", index, id: before.nameCall(id), name },
        { type: "tool_arguments", index, delta: JSON.stringify(input) },
      ]);
    }
    default:
      return malformed("a content block that Chat Completions has no place for");
  }
}
