import type { Refusal } from "../../../core/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { type Failed, type Result, success } from "../../../core/result.ts";
import { type Optional, unsupported } from "../../../prompt/refusals.ts";
import { unknownMember, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { MESSAGES_FIELDS } from "./fields.ts";

const TEXT_MEMBERS = MESSAGES_FIELDS.members("messages[].content[text]");

/** A content part of a Chat message, with the client's path of the block that it comes from. */
export interface PlacedPart {
  readonly part: JsonObject;
  readonly at: string;
}

/** Content of a Chat message with the client's path of each part. */
export interface PlacedContent {
  readonly content: JsonValue;
  readonly partsAt: readonly string[];
}

/** Returns the Chat part of a text. */
export function textPart(text: string): JsonObject {
  return { type: "text", text };
}

/**
 * Returns parts as the content of a Chat message: a single text is a string, which every server
 * takes.
 */
export function chatContent(parts: readonly PlacedPart[]): PlacedContent {
  const partsAt = parts.map(({ at }) => at);
  const [first] = parts;
  if (first === undefined) return { content: "", partsAt };
  const { part } = first;
  if (parts.length === 1 && typeof part.text === "string") return { content: part.text, partsAt };
  return { content: parts.map((one) => one.part), partsAt };
}

/**
 * Returns the blocks of a content that is a text or an array; `path` is the path of the content.
 */
export function contentBlocks(content: Optional, path: string): Result<readonly JsonObject[]> {
  if (typeof content === "string") return success([{ type: "text", text: content }]);
  if (!Array.isArray(content)) return wrongType(content, path, "a valid string or list");
  const wrong = content.findIndex((block) => !isObject(block));
  if (wrong >= 0) return wrongType(content[wrong], `${path}.${wrong}`, "a valid dictionary");
  return success(content.filter(isObject));
}

/** Returns the text of a text block. Citations in it are not read: see `citationsField`. */
export function blockText(block: JsonObject, at: string): Result<string> {
  const unknown = unknownMember(block, TEXT_MEMBERS, at);
  if (unknown !== null) return unknown;
  const { text } = block;
  return typeof text === "string" ? success(text) : wrongType(text, `${at}.text`, "a valid string");
}

/** True if a text block has citations, which Chat requests have no place for. */
export function hasCitations({ citations }: JsonObject): boolean {
  return Array.isArray(citations) && citations.length > 0;
}

/** Returns the refusal of a block whose type has no counterpart. */
export function unexpectedTag(
  { type }: JsonObject,
  at: string,
  expected: readonly string[],
): Failed<Refusal> {
  if (typeof type !== "string") return wrongType(type, `${at}.type`, "a valid string");
  return unsupported(at, SENTENCES.unexpectedTag(type, expected));
}
