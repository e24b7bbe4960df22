import type { JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Result, success } from "../../../core/result.ts";
import type { WireName } from "../../../wires/wire.ts";
import { type MovedKind, newMovedTexts } from "../../moved_media.ts";
import { invalidValue, unknownMember, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import {
  blockText,
  chatContent,
  contentBlocks,
  hasCitations,
  type PlacedContent,
  type PlacedPart,
  textPart,
  unexpectedTag,
} from "./content.ts";
import { MESSAGES_FIELDS } from "./fields.ts";
import { documentParts, imagePart } from "./media.ts";
import { innerPlace, type Place } from "./place.ts";

/** First line of the text of a failed call, because Chat has no mark for it. */
const ERROR_LINE = "[tool error]";

const RESULT = "messages[user].content[tool_result]";

const MEMBERS = MESSAGES_FIELDS.members(RESULT);

const REFERENCE_MEMBERS = MESSAGES_FIELDS.members(`${RESULT}.content[tool_reference]`);

const RESULT_BLOCKS = ["text", "image", "document", "tool_reference"];

/** What the blocks of a request are read with. */
export interface BlockInput {
  readonly wire: WireName;
  /** True if the request declares a tool of this name. */
  hasTool(name: string): boolean;
  /** Records a tool that the dialogue names, on its first mention. */
  mention(name: string): void;
  /** Paths of the client's fields that are carried in part. */
  readonly lossy: string[];
}

/** Result of a tool as a Chat message, with what its tool message cannot hold. */
export interface ToolResult {
  readonly id: string;
  readonly content: PlacedContent;
  /** Images and files for a user message after the results. */
  readonly moved: readonly PlacedPart[];
}

/** Translates a `tool_result` block (Messages API, tool use). */
export function toolResult(
  block: JsonObject,
  place: Place,
  input: BlockInput,
): Result<ToolResult> {
  const { at, field } = place;
  const { tool_use_id: id, content = null, is_error: isError = null } = block;
  const unknown = unknownMember(block, MEMBERS, at);
  if (unknown !== null) return unknown;
  if (typeof id !== "string") return wrongType(id, `${at}.tool_use_id`, "a valid string");
  if (isError !== null && typeof isError !== "boolean") {
    return wrongType(isError, `${at}.is_error`, "a valid boolean");
  }
  const blocks = content === null ? success([]) : contentBlocks(content, `${at}.content`);
  if (!blocks.ok) return blocks;
  const read = newResultReader(id, input);
  for (const [index, inner] of blocks.value.entries()) {
    const taken = read.take(inner, innerPlace(place, index));
    if (!taken.ok) return taken;
  }
  const parts = read.parts();
  if (isError === true) input.lossy.push(`${field}.is_error`);
  const marked = isError === true ? withErrorLine(parts, at) : parts;
  return success({ id, content: chatContent(marked), moved: read.moved });
}

/** Reads the blocks of one result, one after the other. */
function newResultReader(id: string, input: BlockInput) {
  const { wire, lossy } = input;
  // The tool messages of Chat hold only text; the other two protocols take images and files there.
  const movesMedia = wire === "compat" || wire === "messages";
  const parts: PlacedPart[] = [];
  const moved: PlacedPart[] = [];
  const nextTexts = newMovedTexts(id);
  const names: string[] = [];
  let references: { readonly index: number; readonly at: string } | null = null;

  function take(block: JsonObject, place: Place): Result<null> {
    const { at } = place;
    switch (block.type) {
      case "text": {
        const text = blockText(block, at);
        if (!text.ok) return text;
        if (hasCitations(block)) lossy.push(`${place.field}.citations`);
        if (text.value !== "") parts.push({ part: textPart(text.value), at });
        return success(null);
      }
      case "image": {
        const image = imagePart(block, place, wire);
        if (!image.ok) return image;
        takeMedia("image", [image.value], place);
        return success(null);
      }
      case "document": {
        const document = documentParts(block, place, wire, lossy);
        if (!document.ok) return document;
        takeMedia("document", document.value, place);
        return success(null);
      }
      case "tool_reference":
        return takeReference(block, at);
      default:
        return unexpectedTag(block, at, RESULT_BLOCKS);
    }
  }

  function takeMedia(
    kind: MovedKind,
    made: readonly JsonObject[],
    { at, field }: Place,
  ) {
    const placed = made.map((part) => ({ part, at }));
    if (!movesMedia || made.every(({ type }) => type === "text")) return pushAll(parts, placed);
    const { placeholder, title } = nextTexts(kind);
    parts.push({ part: textPart(placeholder), at });
    moved.push({ part: textPart(title), at });
    pushAll(moved, placed);
    lossy.push(field);
  }

  function takeReference(block: JsonObject, at: string): Result<null> {
    const unknown = unknownMember(block, REFERENCE_MEMBERS, at);
    if (unknown !== null) return unknown;
    const { tool_name: name } = block;
    if (typeof name !== "string") return wrongType(name, `${at}.tool_name`, "a valid string");
    if (!input.hasTool(name)) return invalidValue(at, SENTENCES.unknownReference(name));
    input.mention(name);
    names.push(name);
    references ??= { index: parts.length, at };
    return success(null);
  }

  return {
    take,
    moved,
    /** Returns the parts; all references of the result are one text at the place of the first. */
    parts(): readonly PlacedPart[] {
      if (references === null) return parts;
      const text = names.map((name) => `Loaded tool: ${name}`).join("\n");
      return parts.toSpliced(references.index, 0, { part: textPart(text), at: references.at });
    },
  };
}

/** Returns the parts with the mark of a failed call as the first line of their text. */
function withErrorLine(parts: readonly PlacedPart[], at: string): readonly PlacedPart[] {
  const [first, ...others] = parts;
  const text = first?.part.text;
  if (first === undefined || typeof text !== "string") {
    return [{ part: textPart(ERROR_LINE), at }, ...parts];
  }
  return [{ part: textPart(`${ERROR_LINE}\n${text}`), at: first.at }, ...others];
}
