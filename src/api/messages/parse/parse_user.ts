import type { JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import { contentOf, textPart } from "../../../prompt/content.ts";
import type { Part, UserTurn } from "../../../prompt/prompt.ts";
import { invalidValue } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import {
  type BlockInput,
  blockPlace,
  blockText,
  contentBlocks,
  type Place,
  unexpectedTag,
} from "./parse_content.ts";
import { parseDocument, parseImage, textAtPlace } from "./parse_media.ts";
import { type GivenResult, parseResult } from "./parse_result.ts";
import { unknownIn } from "./read.ts";

const USER_BLOCKS = ["text", "image", "document", "tool_result"];

/** The blocks of a user message: results of tools, and everything else as one message. */
export interface UserContent {
  readonly results: readonly GivenResult[];
  /** Null if the message has only results. */
  readonly rest: UserTurn | null;
}

/** Parses a user message (Messages API, messages). */
export function parseUser(
  message: JsonObject,
  index: number,
  input: BlockInput,
): Result<UserContent> {
  const path = `messages.${index}`;
  const unknown = unknownIn(message, "messages[user]", path);
  if (unknown !== null) return unknown;
  const blocks = contentBlocks(message.content, `${path}.content`);
  if (!blocks.ok) return blocks;
  const results: GivenResult[] = [];
  const parts: Part[] = [];
  for (const [at, block] of blocks.value.entries()) {
    const place = blockPlace(index, at);
    if (block.type === "tool_result") {
      const result = parseResult(block, place, input);
      if (!result.ok) return result;
      results.push(result.value);
      continue;
    }
    const made = parseBlock(block, place, input);
    if (!made.ok) return made;
    pushAll(parts, made.value);
  }
  if (results.length === 0 && parts.length === 0) {
    return invalidValue(`${path}.content`, SENTENCES.emptyContent);
  }
  return success({ results, rest: parts.length === 0 ? null : userTurn(parts, path) });
}

function parseBlock(block: JsonObject, place: Place, input: BlockInput): Result<readonly Part[]> {
  switch (block.type) {
    case "text": {
      const text = blockText(block, place, input.lossy);
      if (!text.ok) return text;
      const at = textAtPlace("user", place);
      return success(text.value === "" ? [] : [textPart(text.value, at)]);
    }
    case "image": {
      const image = parseImage(block, place, "user", input);
      return image.ok ? success([image.value]) : image;
    }
    case "document":
      return parseDocument(block, place, "user", input);
    default:
      return unexpectedTag(block, place.path, USER_BLOCKS);
  }
}

/** Returns a message of the user with these parts. */
export function userTurn(parts: readonly Part[], path: string): UserTurn {
  const content = contentOf(parts, { field: "messages[user].content", path: `${path}.content` });
  return { kind: "user", at: { field: "messages[user]", path }, content, cache: null };
}
