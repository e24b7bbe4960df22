import type { JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Result, success } from "../../../core/result.ts";
import type { Optional } from "../../../prompt/refusals.ts";
import { invalidValue, unknownMember } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import {
  blockText,
  chatContent,
  contentBlocks,
  hasCitations,
  type PlacedPart,
  textPart,
  unexpectedTag,
} from "./content.ts";
import { MESSAGES_FIELDS } from "./fields.ts";
import { documentParts, imagePart } from "./media.ts";
import { blockPlace, type Place } from "./place.ts";
import type { PlacedMessage } from "./placed_message.ts";
import { type BlockInput, type ToolResult, toolResult } from "./tool_result.ts";

const USER_BLOCKS = ["text", "image", "document", "tool_result"];

/** A result with the place of its block. */
export interface PlacedResult extends ToolResult {
  readonly place: Place;
}

/** The blocks of a user message: results of tools, and everything else as one message. */
export interface UserContent {
  readonly results: readonly PlacedResult[];
  /** Null if the message has only results. */
  readonly rest: PlacedMessage | null;
}

/** Translates a user message (Messages API, messages). */
export function userContent(
  message: JsonObject,
  index: number,
  input: BlockInput,
): Result<UserContent> {
  const path = `messages.${index}`;
  const unknown = unknownMember(message, MESSAGES_FIELDS.members("messages[user]"), path);
  if (unknown !== null) return unknown;
  const content: Optional = message.content;
  const blocks = contentBlocks(content, `${path}.content`);
  if (!blocks.ok) return blocks;
  const results: PlacedResult[] = [];
  const parts: PlacedPart[] = [];
  for (const [at, block] of blocks.value.entries()) {
    const place = blockPlace(index, at);
    if (block.type === "tool_result") {
      const result = toolResult(block, place, input);
      if (!result.ok) return result;
      results.push({ ...result.value, place });
      continue;
    }
    const made = userParts(block, place, input);
    if (!made.ok) return made;
    pushAll(parts, made.value.map((part) => ({ part, at: place.at })));
  }
  if (results.length === 0 && parts.length === 0) {
    return invalidValue(`${path}.content`, SENTENCES.emptyContent);
  }
  if (parts.length === 0) return success({ results, rest: null });
  const { content: made, partsAt } = chatContent(parts);
  const rest = { message: { role: "user", content: made }, at: path, partsAt, callsAt: [] };
  return success({ results, rest });
}

function userParts(
  block: JsonObject,
  place: Place,
  { wire, lossy }: BlockInput,
): Result<readonly JsonObject[]> {
  switch (block.type) {
    case "text": {
      const text = blockText(block, place.at);
      if (!text.ok) return text;
      if (hasCitations(block)) lossy.push(`${place.field}.citations`);
      return success(text.value === "" ? [] : [textPart(text.value)]);
    }
    case "image": {
      const image = imagePart(block, place, wire);
      return image.ok ? success([image.value]) : image;
    }
    case "document":
      return documentParts(block, place, wire, lossy);
    default:
      return unexpectedTag(block, place.at, USER_BLOCKS);
  }
}

/** Returns the message with the images and files of results, which tool messages cannot hold. */
export function movedMessage(results: readonly PlacedResult[], index: number): PlacedMessage[] {
  const parts = results.flatMap(({ moved }) => moved);
  if (parts.length === 0) return [];
  const { content, partsAt } = chatContent(parts);
  return [{
    message: { role: "user", content },
    at: `messages.${index}`,
    partsAt,
    callsAt: [],
  }];
}

/** Returns the Chat message of a result. */
export function resultMessage({ id, content, place }: PlacedResult): PlacedMessage {
  return {
    message: { role: "tool", tool_call_id: id, content: content.content },
    at: place.at,
    partsAt: content.partsAt,
    callsAt: [],
  };
}
