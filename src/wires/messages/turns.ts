import { legacyResultId } from "../call_ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { pushAll } from "../../core/push_all.ts";
import { type Result, success } from "../../core/failure/result.ts";
import {
  type FieldRef,
  type Instruction,
  type Message,
  type ToolResult,
} from "../../prompt/prompt.ts";
import { newAssistantEncoder } from "./assistant.ts";
import { encodeContent, withCacheMark } from "./content.ts";
import type { SectionInput } from "./controls.ts";
import { toolId } from "./ids.ts";

type Blocks = Result<readonly JsonObject[]>;

/** One message of the upstream request, to which adjacent messages of its role are added. */
interface Turn {
  readonly role: "user" | "assistant";
  readonly blocks: JsonObject[];
  /** Field of its first client message. */
  readonly at: FieldRef;
  /** True if the client sent a string instead of parts. */
  isText: boolean;
}

/**
 * Returns `system` and `messages` of a Messages request. Instructions move to `system`, tool
 * results become user messages, and adjacent messages of one role are merged, with results first
 * (Messages API, tool use). A Refusal names the field that cannot be translated.
 */
export function encodeTurns(input: SectionInput): Result<JsonObject> {
  const { prompt, carrier } = input;
  const { messages } = prompt;
  const system: JsonObject[] = [];
  const dialogue: Turn[] = [];
  const encodeMessage = newMessageEncoder(input);
  for (const message of messages) {
    const blocks = encodeMessage(message);
    if (!blocks.ok) return blocks;
    if (message.kind !== "instruction") join(dialogue, message, blocks.value);
    else if (blocks.value.length > 0) {
      pushAll(system, blocks.value);
      const refused = dialogue.length === 0 ? null : carrier.apply(message.at);
      if (refused !== null) return refused;
    }
  }
  const [first] = dialogue;
  if (first === undefined) {
    return carrier.refuseValue(prompt.at.path, "must be a list with a user message");
  }
  const { role, at } = first;
  if (role !== "user") {
    return carrier.refuseValue(`${at.path}.role`, "must be 'user' in the first message");
  }
  // The model continues the text of a last assistant message and begins no turn.
  const last = messages.findLast(({ kind }) => kind !== "instruction");
  const refused = last?.kind === "assistant" ? carrier.apply(last.at) : null;
  return refused ?? success({ ...encodeSystem(system), messages: dialogue.map(encodeTurn) });
}

/** Returns the encoder of one message after another. */
function newMessageEncoder(input: SectionInput): (message: Message) => Blocks {
  const { carrier } = input;
  const encodeAssistant = newAssistantEncoder(input);

  function encodeOwn(message: Message): Blocks {
    switch (message.kind) {
      case "instruction":
      case "user":
        return encodeContent(message.content, carrier);
      case "assistant":
        return encodeAssistant(message);
      case "result":
        return encodeResult(message);
    }
  }

  /** Returns the block of a tool result. `is_error` is never guessed from the text. */
  function encodeResult(result: ToolResult): Blocks {
    const { callId: given, content } = result;
    const id = given === null ? legacyResultId(result, carrier) : success(given.value);
    if (!id.ok) return id;
    const blocks = encodeContent(content, carrier);
    if (!blocks.ok) return blocks;
    const shape = content.isString ? blocks.value[0]?.text ?? "" : [...blocks.value];
    return success([{ type: "tool_result", tool_use_id: toolId(id.value), content: shape }]);
  }

  return (message) => {
    const own = encodeOwn(message);
    if (!own.ok) return own;
    if (message.kind === "user" && own.value.length === 0) {
      return carrier.refuseValue(message.content.at.path, "must be a text or parts, not empty");
    }
    const blocks = withCacheMark(own.value, message.cache, carrier);
    if (!blocks.ok || message.kind !== "instruction") return blocks;
    // The upstream refuses instructions of only whitespace.
    return success(
      blocks.value.filter(({ text }) => typeof text === "string" && text.trim() !== ""),
    );
  };
}

/** Adds a message to the conversation, merged into the last one if both have the same role. */
function join(
  dialogue: Turn[],
  message: Exclude<Message, Instruction>,
  blocks: readonly JsonObject[],
): void {
  const role = message.kind === "assistant" ? "assistant" : "user";
  const last = dialogue.at(-1);
  if (last?.role === role) {
    pushAll(last.blocks, blocks);
    last.isText = false;
  } else {
    const isText = message.kind !== "result" && message.content?.isString === true &&
      blocks.length === 1;
    dialogue.push({ role, blocks: [...blocks], at: message.at, isText });
  }
}

function encodeTurn({ role, blocks, isText }: Turn): JsonObject {
  const [first] = blocks;
  // Only an assistant turn can be empty, and only as a string.
  if (first === undefined) return { role, content: "" };
  if (isText && isBareText(first)) return { role, content: first.text };
  const results = blocks.filter(({ type }) => type === "tool_result");
  const others = blocks.filter(({ type }) => type !== "tool_result");
  return { role, content: [...results, ...others] };
}

function isBareText(block: JsonObject): boolean {
  return block.type === "text" && block.cache_control === undefined;
}

function encodeSystem(blocks: readonly JsonObject[]): JsonObject {
  const [first] = blocks;
  if (first === undefined) return {};
  return { system: blocks.length === 1 && isBareText(first) ? first.text : [...blocks] };
}
