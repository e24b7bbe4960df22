import { isObject, type JsonDocument, type JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import { parseElements, parseMembers, type Span } from "../../../formats/edit.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import { type InnerItems, tooManyInnerItems } from "../../../prompt/inner_json.ts";
import { parseThinking, sealedText } from "../../sealed_thinking.ts";
import { memberText } from "./chat_text.ts";
import { invalidValue, unknownMember, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { blockText, contentBlocks, hasCitations, unexpectedTag } from "./content.ts";
import { MESSAGES_FIELDS } from "./fields.ts";
import { blockPlace, type Place } from "./place.ts";
import type { PlacedMessage } from "./placed_message.ts";
import type { BlockInput } from "./tool_result.ts";

const THINKING_MEMBERS = MESSAGES_FIELDS.members("messages[assistant].content[thinking]");

const TOOL_USE_MEMBERS = MESSAGES_FIELDS.members("messages[assistant].content[tool_use]");

const ASSISTANT_BLOCKS = ["text", "thinking", "redacted_thinking", "tool_use"];

/** What assistant messages are read with. */
export interface AssistantInput extends BlockInput {
  readonly document: JsonDocument;
  readonly innerItems: InnerItems;
  /** Returns the name of a tool for the upstream. */
  upstreamName(name: string): string;
}

/** An assistant message with the IDs of its calls. */
export interface AssistantTurn {
  /** Null if nothing of the message can be sent. */
  readonly placed: PlacedMessage | null;
  readonly ids: readonly string[];
}

/** Translates an assistant message; `span` is its text in the client's document. */
export function assistantTurn(
  message: JsonObject,
  index: number,
  span: Span,
  input: AssistantInput,
): Result<AssistantTurn> {
  const path = `messages.${index}`;
  const unknown = unknownMember(message, MESSAGES_FIELDS.members("messages[assistant]"), path);
  if (unknown !== null) return unknown;
  const blocks = contentBlocks(message.content, `${path}.content`);
  if (!blocks.ok) return blocks;
  const spans = blocks.value.some(({ type }) => type === "tool_use")
    ? blockSpans(input.document.text, span)
    : [];
  const read = newAssistantReader(input);
  for (const [at, block] of blocks.value.entries()) {
    const taken = read.take(block, blockPlace(index, at), spans[at]);
    if (!taken.ok) return taken;
  }
  return success(read.turn(path));
}

/** Returns the spans of the content's blocks, so that the input of a call keeps its text. */
function blockSpans(text: string, { start }: Span): readonly Span[] {
  const content = parseMembers(text, start).findLast(({ key }) => key === "content");
  return content === undefined ? [] : parseElements(text, content.start);
}

function newAssistantReader(input: AssistantInput) {
  const { lossy, document } = input;
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls: JsonObject[] = [];
  const callsAt: string[] = [];
  let reasoningAt: string | null = null;
  const ids = new Set<string>();

  function take(block: JsonObject, place: Place, span: Span | undefined): Result<null> {
    switch (block.type) {
      case "text":
        return takeText(block, place);
      case "thinking":
        return takeThinking(block, place);
      case "redacted_thinking":
        // Only its maker can read it.
        lossy.push(place.field);
        return success(null);
      case "tool_use":
        return takeCall(block, place, span);
      default:
        return unexpectedTag(block, place.at, ASSISTANT_BLOCKS);
    }
  }

  function takeText(block: JsonObject, { at, field }: Place): Result<null> {
    const text = blockText(block, at);
    if (!text.ok) return text;
    if (hasCitations(block)) lossy.push(`${field}.citations`);
    if (text.value === "") return success(null);
    // In a Chat message all text is before the calls.
    if (calls.length > 0) lossy.push(field);
    texts.push(text.value);
    return success(null);
  }

  function takeThinking(block: JsonObject, { at, field }: Place): Result<null> {
    const unknown = unknownMember(block, THINKING_MEMBERS, at);
    if (unknown !== null) return unknown;
    const { thinking } = block;
    const signature = block.signature ?? "";
    if (typeof thinking !== "string") {
      return wrongType(thinking, `${at}.thinking`, "a valid string");
    }
    if (typeof signature !== "string") {
      return wrongType(signature, `${at}.signature`, "a valid string");
    }
    reasoningAt ??= field;
    const sealed = sealedText(signature);
    if (sealed === null) {
      // A signature of another maker means nothing to this upstream.
      if (signature !== "") lossy.push(thinking === "" ? field : `${field}.signature`);
      if (thinking !== "") thoughts.push(thinking);
      return success(null);
    }
    if (!input.innerItems.admits(sealed)) return tooManyInnerItems(`${at}.signature`);
    thoughts.push(thinking === "" ? thinkingIn(sealed) : thinking);
    return success(null);
  }

  function takeCall(block: JsonObject, place: Place, span: Span | undefined): Result<null> {
    const { at } = place;
    const { id, name, input: given, caller = null } = block;
    const unknown = unknownMember(block, TOOL_USE_MEMBERS, at);
    if (unknown !== null) return unknown;
    if (caller !== null && !(isObject(caller) && caller.type === "direct")) {
      return unsupported(`${at}.caller`);
    }
    if (typeof id !== "string") return wrongType(id, `${at}.id`, "a valid string");
    if (typeof name !== "string") return wrongType(name, `${at}.name`, "a valid string");
    if (!isObject(given)) return wrongType(given, `${at}.input`, "a valid dictionary");
    if (ids.has(id)) return invalidValue(`${at}.id`, SENTENCES.idsNotUnique);
    ids.add(id);
    input.mention(name);
    const called = {
      name: input.upstreamName(name),
      arguments: memberText(document.text, span, "input") ?? "{}",
    };
    calls.push({ id, type: "function", function: called });
    callsAt.push(at);
    return success(null);
  }

  function turn(path: string): AssistantTurn {
    const content = texts.join("");
    const reasoning = thoughts.join("");
    if (content === "" && reasoning === "" && calls.length === 0) return { placed: null, ids: [] };
    const message = {
      role: "assistant",
      content: content === "" && calls.length > 0 ? null : content,
      ...reasoning !== "" && { reasoning_content: reasoning },
      ...calls.length > 0 && { tool_calls: calls },
    };
    const placed = {
      message,
      at: path,
      partsAt: [],
      callsAt,
      ...reasoningAt !== null && { reasoningAt },
    };
    return { placed, ids: [...ids] };
  }

  return { take, turn };
}

/** Returns the thinking in the text of a seal. */
function thinkingIn(sealed: string): string {
  const blocks = parseThinking(sealed) ?? [];
  return blocks.map(({ thinking }) => typeof thinking === "string" ? thinking : "").join("");
}
