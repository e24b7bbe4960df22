import type { StreamEvent } from "../../../core/stream/events.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { type Content, type ItemPosition, newContent, type OutputEvent } from "./parts.ts";
import { isHostSigned } from "../../../wires/compat/host_reasoning.ts";
import { reasoningTextBlock, sealThinking } from "../../reasoning/sealed_thinking.ts";

/** Status of an output item. */
export type ItemStatus = "in_progress" | "completed" | "incomplete";

/** One output item under construction. Its events have the order of the Responses API. */
export interface OutputItem {
  readonly place: ItemPosition;
  /** Returns the output events for one event of the model. */
  push(event: StreamEvent): readonly OutputEvent[];
  /** Returns the events that close the item's content. */
  close(): readonly OutputEvent[];
  /** Returns the item with the content received until now. */
  value(status: ItemStatus): JsonObject;
}

/** Function or custom tool of a call, by the client's own name. */
export interface CalledTool {
  readonly name: string;
  /** Namespace of the tool; absent if the tool has none. */
  readonly namespace?: string;
}

/**
 * Creates a message item; `textBefore` is the length of the response text before it, in characters.
 */
export function newMessageItem(place: ItemPosition, textBefore: number): OutputItem {
  const content = newContent(place, textBefore);
  return {
    place,
    push: (event) => pushContent(content, event),
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
 * Creates a reasoning item with one part for each block of text. Signed and redacted blocks are
 * sent complete in `encrypted_content`, so that clients can send them back. If the upstream does
 * not sign the text (`isSigned` is false), it is sent there too: some clients send only this member
 * back.
 */
export function newReasoningItem(place: ItemPosition, isSigned: boolean): OutputItem {
  const content = newContent(place);
  const blocks: JsonObject[] = [];

  function sealed(): readonly JsonObject[] {
    const text = isSigned || !blocks.every(isHostSigned) ? "" : content.text();
    return text === "" ? blocks : [reasoningTextBlock(text), ...blocks];
  }

  return {
    place,
    push(event) {
      if (event.type !== "thinking_block") return pushContent(content, event);
      blocks.push(event.value);
      return content.close();
    },
    close: content.close,
    value(status) {
      const carried = sealed();
      return {
        id: place.id,
        type: "reasoning",
        status,
        summary: [],
        content: content.value(),
        ...carried.length > 0 && { encrypted_content: sealThinking(carried) },
      };
    },
  };
}

/** Adds an event of the model to the content of an item. Returns no events if it is not content. */
function pushContent(content: Content, event: StreamEvent): readonly OutputEvent[] {
  switch (event.type) {
    case "text":
      return content.append("output_text", event.delta);
    case "refusal":
      return content.append("refusal", event.delta);
    case "reasoning":
      return content.append("reasoning_text", event.delta);
    case "annotation":
      return content.annotate(event.value);
    case "start":
    case "thinking_block":
    case "reasoning_item":
    case "tool_call":
    case "tool_arguments":
    case "usage":
    case "finish":
      return [];
  }
}

/** Creates a function call item; `callId` is the upstream's ID of the call. */
export function newCallItem(place: ItemPosition, callId: string, called: CalledTool): OutputItem {
  return newTextItem(place, "response.function_call_arguments", {
    done: (text) => ({ name: called.name, arguments: text }),
    value: (text, status) => ({
      id: place.id,
      type: "function_call",
      status,
      call_id: callId,
      ...called,
      arguments: text,
    }),
  });
}

/** Creates the item of the call of a custom tool, whose input is a text. */
export function newCustomCallItem(
  place: ItemPosition,
  callId: string,
  called: CalledTool,
): OutputItem {
  return newTextItem(place, "response.custom_tool_call_input", {
    done: (input) => ({ input }),
    value: (input, status) => ({
      id: place.id,
      type: "custom_tool_call",
      status,
      call_id: callId,
      ...called,
      input,
    }),
  });
}

/** Differences between the items of functions and of custom tools. */
interface CallTexts {
  /** Returns the members of the event with the whole text. */
  done(text: string): JsonObject;
  value(text: string, status: ItemStatus): JsonObject;
}

function newTextItem(place: ItemPosition, event: string, { done, value }: CallTexts): OutputItem {
  const at = { item_id: place.id, output_index: place.index };
  let text = "";
  return {
    place,
    push(change) {
      if (change.type !== "tool_arguments" || change.delta === "") return [];
      text += change.delta;
      return [{ type: `${event}.delta`, ...at, delta: change.delta }];
    },
    close: () => [{ type: `${event}.done`, ...at, ...done(text) }],
    value: (status) => value(text, status),
  };
}
