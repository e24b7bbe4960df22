import { malformed } from "../openai/errors.ts";
import type { StreamEvent } from "../../core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { isJsonObject } from "../../formats/parse_limits.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { EVENT_BYTES } from "../../core/stream/stream.ts";
import { decodeAnnotations, thinkingEvents } from "./response.ts";
import type { Optional } from "../../prompt/refusals.ts";

type Events = Result<readonly StreamEvent[]>;

/** One content block of a stream, between its start and stop events. */
export interface OpenBlock {
  /** Returns the events of a delta. A delta of an unknown type has none. */
  add(delta: JsonObject): Events;
  /** Returns the last events of the block at its stop event. */
  close(): readonly StreamEvent[];
  /** False for a tool call whose complete arguments are not a JSON object. */
  isSound(): boolean;
  /** Returns the bytes that are held of the block. */
  heldBytes(): number;
}

/** A new block and the events of its start. */
export interface Opening {
  readonly block: OpenBlock;
  readonly events: readonly StreamEvent[];
}

/** Counters shared by all blocks of one stream. */
export interface Counts {
  textLength: number;
  calls: number;
  /** Returns the ID of the next tool call, unique in the response. */
  readonly nameCall: (given: string) => string;
}

/**
 * Returns the block of a content_block_start event, with numbers as exact text. Fails on a block
 * type that has no counterpart in Chat.
 */
export function openBlock(start: Optional, counts: Counts): Result<Opening> {
  if (!isObject(start)) return malformed("a content block that is no object");
  switch (start.type) {
    case "text":
      return success(openText(start, counts));
    case "thinking":
      return success(openThinking(start));
    case "redacted_thinking":
      return success({
        block: { add: () => success([]), close: () => [], isSound: () => true, heldBytes: () => 0 },
        events: [{ type: "thinking_block", value: start }],
      });
    case "tool_use":
      return openCall(start, counts);
    default:
      return malformed("a content block that Chat Completions has no place for");
  }
}

function openText(start: JsonObject, counts: Counts): Opening {
  const from = counts.textLength;
  const citations: JsonValue[] = Array.isArray(start.citations) ? [...start.citations] : [];
  let citationBytes = citations.length === 0 ? 0 : JSON.stringify(citations).length;

  function say(text: string): readonly StreamEvent[] {
    counts.textLength += text.length;
    return text === "" ? [] : [{ type: "text", delta: text }];
  }

  return {
    events: say(textOf(start.text)),
    block: {
      isSound: () => true,
      heldBytes: () => citationBytes,
      add(delta) {
        if (delta.type === "text_delta") return success(say(textOf(delta.text)));
        if (delta.type === "citations_delta") {
          citations.push(delta.citation ?? null);
          citationBytes += JSON.stringify(delta).length;
        }
        return success([]);
      },
      close: () => decodeAnnotations(citations, from, counts.textLength),
    },
  };
}

function openThinking(start: JsonObject): Opening {
  let thinking = "";
  let pieces = 0;
  let signature = textOf(start.signature);

  function think(text: string): readonly StreamEvent[] {
    thinking += text;
    pieces += 1;
    return text === "" ? [] : [{ type: "reasoning", delta: text }];
  }

  return {
    events: think(textOf(start.thinking)),
    block: {
      isSound: () => true,
      heldBytes: () => thinking.length + signature.length + pieces * EVENT_BYTES,
      add(delta) {
        // A signature replaces the one before (Messages API, streaming).
        if (delta.type === "signature_delta") signature = textOf(delta.signature);
        return success(delta.type === "thinking_delta" ? think(textOf(delta.thinking)) : []);
      },
      close: () => thinkingEvents(thinking, signature),
    },
  };
}

function openCall(start: JsonObject, counts: Counts): Result<Opening> {
  const { id, name, input } = start;
  if (typeof id !== "string" || typeof name !== "string") {
    return malformed("a malformed tool call");
  }
  const index = counts.calls++;
  const pieces: string[] = [];
  // The input of the start event is a placeholder. Only some compatible servers send the complete
  // input there.
  const placeholder = isObject(input) ? JSON.stringify(input) : "{}";
  let chars = placeholder.length;

  function add(text: string): readonly StreamEvent[] {
    if (text === "") return [];
    pieces.push(text);
    chars += text.length;
    return [{ type: "tool_arguments", index, delta: text }];
  }

  const block: OpenBlock = {
    isSound: () => isJsonObject(pieces.join("")),
    heldBytes: () => chars + pieces.length * EVENT_BYTES,
    add: (delta) =>
      success(delta.type === "input_json_delta" ? add(textOf(delta.partial_json)) : []),
    close: () => pieces.length > 0 ? [] : add(placeholder),
  };
  return success({ block, events: [{ type: "tool_call", index, id: counts.nameCall(id), name }] });
}

function textOf(given: Optional): string {
  return typeof given === "string" ? given : "";
}
