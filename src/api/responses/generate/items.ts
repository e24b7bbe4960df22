import type { StreamEvent } from "../../../core/events.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { contentOf, type Place, type Said } from "./parts.ts";
import { sealThinking } from "../translate/sealed_thinking.ts";

/** How far an output item has come. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** One output item while it is being made; the order of its events is that of the Responses API. */
export interface OutputItem {
  readonly place: Place;
  /** The events that one event of the model becomes. */
  push(event: StreamEvent): readonly Said[];
  /** What closes the item's content. */
  close(): readonly Said[];
  /** The item as far as it has come. */
  value(status: ItemStatus): JsonObject;
}

/** The function that a call is for, as the client named it. */
export interface CalledFunction {
  readonly name: string;
  /** Present for a function out of a namespace. */
  readonly namespace?: string;
}

/** A message; `textBefore` is the length of the answer's text before it. */
export function messageItem(place: Place, textBefore: number): OutputItem {
  const content = contentOf(place, textBefore);
  return {
    place,
    push(event) {
      switch (event.type) {
        case "text":
          return content.say("output_text", event.delta);
        case "refusal":
          return content.say("refusal", event.delta);
        case "annotation":
          return content.annotate(event.value);
        case "start":
        case "reasoning":
        case "thinking_block":
        case "tool_call":
        case "tool_arguments":
        case "usage":
        case "finish":
          return [];
      }
    },
    close: content.close,
    value: (status) => ({
      id: place.id,
      type: "message",
      role: "assistant",
      status,
      content: content.value(),
    }),
  };
}

/**
 * A run of thinking: one part for each block of text. Signed and redacted blocks travel in
 * `encrypted_content`, whole, so that they can be sent back.
 */
export function reasoningItem(place: Place): OutputItem {
  const content = contentOf(place);
  const blocks: JsonObject[] = [];
  return {
    place,
    push(event) {
      switch (event.type) {
        case "reasoning":
          return content.say("reasoning_text", event.delta);
        case "thinking_block":
          blocks.push(event.value);
          return content.close();
        case "start":
        case "text":
        case "refusal":
        case "annotation":
        case "tool_call":
        case "tool_arguments":
        case "usage":
        case "finish":
          return [];
      }
    },
    close: content.close,
    value: (status) => ({
      id: place.id,
      type: "reasoning",
      status,
      summary: [],
      content: content.value(),
      ...blocks.length > 0 && { encrypted_content: sealThinking(blocks) },
    }),
  };
}

/** A call of a function; `callId` is the upstream's own id of it. */
export function callItem(place: Place, callId: string, called: CalledFunction): OutputItem {
  const at = { item_id: place.id, output_index: place.index };
  const event = "response.function_call_arguments";
  let text = "";
  return {
    place,
    push(given) {
      if (given.type !== "tool_arguments" || given.delta === "") return [];
      text += given.delta;
      return [{ type: `${event}.delta`, ...at, delta: given.delta }];
    },
    close: () => [{ type: `${event}.done`, ...at, name: called.name, arguments: text }],
    value: (status) => ({
      id: place.id,
      type: "function_call",
      status,
      call_id: callId,
      ...called,
      arguments: text,
    }),
  };
}
