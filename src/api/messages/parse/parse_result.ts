import type { JsonObject } from "../../../core/json/json.ts";
import { pushAll } from "../../../core/push_all.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import { contentOf, textPart } from "../../../prompt/content.ts";
import type { Content, Given, Part } from "../../../prompt/prompt.ts";
import { type MovedKind, newMovedTexts } from "../../generate/moved_media.ts";
import { invalidValue } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import {
  type BlockInput,
  blockText,
  contentBlocks,
  innerPlace,
  type Place,
  unexpectedTag,
} from "./parse_content.ts";
import { parseDocument, parseImage, textAtPlace } from "./parse_media.ts";
import { flagAt, textAt, unknownIn } from "./read.ts";

/** First line of the text of a failed call, because Chat has no mark for it. */
const ERROR_LINE = "[tool error]";

const RESULT = "messages[user].content[tool_result]";

const RESULT_BLOCKS = ["text", "image", "document", "tool_reference"];

/** Result of a tool, with what its message cannot hold. */
export interface GivenResult {
  readonly place: Place;
  readonly id: Given<string>;
  readonly content: Content;
  /** Images and files for a user message after the results. */
  readonly moved: readonly Part[];
}

/** Parses a `tool_result` block (Messages API, tool use). */
export function parseResult(
  block: JsonObject,
  place: Place,
  input: BlockInput,
): Result<GivenResult> {
  const { path, listedPath } = place;
  const unknown = unknownIn(block, RESULT, path);
  if (unknown !== null) return unknown;
  const idPath = `${path}.tool_use_id`;
  const id = textAt(block.tool_use_id, idPath);
  if (!id.ok) return id;
  const isError = flagAt(block.is_error, `${path}.is_error`);
  if (!isError.ok) return isError;
  const blocks = contentBlocks(block.content ?? [], `${path}.content`);
  if (!blocks.ok) return blocks;
  const read = newResultReader(id.value, input);
  for (const [index, inner] of blocks.value.entries()) {
    const taken = read.take(inner, innerPlace(place, index));
    if (!taken.ok) return taken;
  }
  if (isError.value === true) input.lossy.push(`${listedPath}.is_error`);
  const parts = isError.value === true ? withErrorLine(read.parts(), place) : read.parts();
  return success({
    place,
    id: { value: id.value, at: { field: "messages[tool].tool_call_id", path: idPath } },
    content: contentOf(parts, { field: "messages[tool].content", path }),
    moved: read.moved,
  });
}

/** Reads the blocks of one result, one after the other. */
function newResultReader(id: string, input: BlockInput) {
  const { wire, lossy } = input;
  // The tool messages of Chat hold only text; the other two protocols take images and files there.
  const movesMedia = wire === "compat";
  const role = movesMedia ? "user" : "tool";
  const parts: Part[] = [];
  const moved: Part[] = [];
  const nextTexts = newMovedTexts(id);
  const names: string[] = [];
  let references: { readonly index: number; readonly place: Place } | null = null;

  function take(block: JsonObject, place: Place): Result<null> {
    switch (block.type) {
      case "text": {
        const text = blockText(block, place, lossy);
        if (!text.ok) return text;
        if (text.value !== "") parts.push(textPart(text.value, textAtPlace("tool", place)));
        return success(null);
      }
      case "image": {
        const image = parseImage(block, place, role, input);
        if (image.ok) takeMedia("image", [image.value], place);
        return image.ok ? success(null) : image;
      }
      case "document": {
        const document = parseDocument(block, place, role, input);
        if (document.ok) takeMedia("document", document.value, place);
        return document.ok ? success(null) : document;
      }
      case "tool_reference":
        return takeReference(block, place);
      default:
        return unexpectedTag(block, place.path, RESULT_BLOCKS);
    }
  }

  function takeMedia(kind: MovedKind, made: readonly Part[], place: Place) {
    if (!movesMedia || made.every((part) => part.kind === "text")) return pushAll(parts, made);
    const { placeholder, title } = nextTexts(kind);
    parts.push(textPart(placeholder, textAtPlace("tool", place)));
    moved.push(textPart(title, textAtPlace("user", place)));
    pushAll(moved, made);
    lossy.push(place.listedPath);
  }

  function takeReference(block: JsonObject, place: Place): Result<null> {
    const { path } = place;
    const unknown = unknownIn(block, `${RESULT}.content[tool_reference]`, path);
    if (unknown !== null) return unknown;
    const name = textAt(block.tool_name, `${path}.tool_name`);
    if (!name.ok) return name;
    if (!input.hasTool(name.value)) {
      return invalidValue(path, SENTENCES.unknownReference(name.value));
    }
    input.mention(name.value);
    names.push(name.value);
    references ??= { index: parts.length, place };
    return success(null);
  }

  return {
    take,
    moved,
    /** Returns the parts; all references of the result are one text at the place of the first. */
    parts(): readonly Part[] {
      if (references === null) return parts;
      const text = names.map((name) => `Loaded tool: ${name}`).join("\n");
      const part = textPart(text, textAtPlace("tool", references.place));
      return parts.toSpliced(references.index, 0, part);
    },
  };
}

/** Returns the parts with the mark of a failed call as the first line of their text. */
function withErrorLine(parts: readonly Part[], place: Place): readonly Part[] {
  const [first, ...others] = parts;
  return first?.kind === "text"
    ? [{ ...first, text: `${ERROR_LINE}\n${first.text}` }, ...others]
    : [textPart(ERROR_LINE, textAtPlace("tool", place)), ...parts];
}
