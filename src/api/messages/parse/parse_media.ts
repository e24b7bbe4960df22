import type { JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import type { ChatField } from "../../../prompt/chat_fields.ts";
import { textPart } from "../../../prompt/content.ts";
import type { Part } from "../../../prompt/prompt.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import { notAmong } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import {
  type BlockInput,
  blockText,
  contentBlocks,
  type Place,
  unexpectedTag,
} from "./parse_content.ts";
import { objectAt, textAt, unknownIn } from "./read.ts";

const IMAGE = "messages[user].content[image]";

const DOCUMENT = "messages[user].content[document]";

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Name of a PDF file without a title. */
const PDF_NAME = "document.pdf";

/** Role of the message that holds an image or a file. */
export type MediaRole = "user" | "tool";

/** Returns the part of an image block. */
export function parseImage(
  block: JsonObject,
  place: Place,
  role: MediaRole,
  { wire, carrier }: BlockInput,
): Result<Part> {
  const source = sourceOf(block, IMAGE, place);
  if (!source.ok) return source;
  const url = imageUrl(source.value, `${place.path}.source`);
  if (!url.ok) return url;
  if (wire === "local" && source.value.type === "url") {
    return unsupported(`${place.path}.image`, SENTENCES.imageUrl);
  }
  const at = { field: `messages[${role}].content[image_url]`, ...place } as const;
  const urlAt = {
    field: "messages[].content[image_url].image_url.url",
    path: `${place.path}.source.data`,
  } as const;
  return carrier.use(at) ?? success({
    kind: "image",
    at,
    url: { value: url.value, at: urlAt },
    detail: null,
    cache: null,
    breakpoint: null,
  });
}

function imageUrl(source: JsonObject, path: string): Result<string> {
  const { type, media_type, data, url } = source;
  if (type !== "base64" && type !== "url") return unexpectedTag(source, path, ["base64", "url"]);
  const unknown = unknownIn(source, `${IMAGE}.source[${type}]`, path);
  if (unknown !== null) return unknown;
  if (type === "url") return textAt(url, `${path}.url`);
  if (typeof media_type !== "string" || !IMAGE_TYPES.includes(media_type)) {
    return notAmong(`${path}.media_type`, IMAGE_TYPES);
  }
  const text = textAt(data, `${path}.data`);
  return text.ok ? success(`data:${media_type};base64,${text.value}`) : text;
}

/**
 * Returns the parts of a document block: the file of a PDF, or texts. Title and context, if given,
 * are lines before the text. Fields that are kept only as text are added to `lossy`.
 */
export function parseDocument(
  block: JsonObject,
  place: Place,
  role: MediaRole,
  input: BlockInput,
): Result<readonly Part[]> {
  const { path, listedPath } = place;
  const source = sourceOf(block, DOCUMENT, place);
  if (!source.ok) return source;
  const title = textAt(block.title ?? "", `${path}.title`);
  if (!title.ok) return title;
  const context = textAt(block.context ?? "", `${path}.context`);
  if (!context.ok) return context;
  const citations = objectAt(block.citations ?? {}, `${path}.citations`);
  if (!citations.ok) return citations;
  if ((citations.value.enabled ?? false) !== false) return unsupported(`${path}.citations.enabled`);
  const unknown = unknownIn(citations.value, `${DOCUMENT}.citations`, `${path}.citations`);
  if (unknown !== null) return unknown;
  const textOf = (text: string) => textPart(text, textAtPlace(role, place));
  if (source.value.type === "base64") {
    const file = parsePdf(source.value, title.value, place, role, input);
    if (!file.ok) return file;
    if (context.value === "") return success([file.value]);
    input.lossy.push(`${listedPath}.context`);
    return success([textOf(context.value), file.value]);
  }
  const texts = sourceTexts(source.value, `${path}.source`);
  if (!texts.ok) return texts;
  input.lossy.push(listedPath);
  const [first = "", ...others] = texts.value;
  const head = [title.value, context.value, first].filter((text) => text !== "").join("\n");
  return success([head, ...others].filter((text) => text !== "").map(textOf));
}

/** Returns the field of a text in the content of a message. */
export function textAtPlace(role: MediaRole, place: Place) {
  return { field: `messages[${role}].content[text]`, ...place } as const;
}

function parsePdf(
  source: JsonObject,
  title: string,
  place: Place,
  role: MediaRole,
  { wire, carrier }: BlockInput,
): Result<Part> {
  const path = `${place.path}.source`;
  const { media_type, data } = source;
  const unknown = unknownIn(source, `${DOCUMENT}.source[base64]`, path);
  if (unknown !== null) return unknown;
  if (media_type !== "application/pdf") return notAmong(`${path}.media_type`, ["application/pdf"]);
  const text = textAt(data, `${path}.data`);
  if (!text.ok) return text;
  const refusedPath = `${place.path}.document`;
  if (wire === "local") return unsupported(refusedPath, SENTENCES.pdf);
  const member = (field: ChatField) => ({ field, ...place, refusedPath });
  const at = member(`messages[${role}].content[file]`);
  const dataAt = member("messages[].content[file].file.file_data");
  return carrier.use(at) ?? success({
    kind: "file",
    at,
    id: null,
    name: {
      value: title === "" ? PDF_NAME : title,
      at: member("messages[].content[file].file.filename"),
    },
    data: { value: `data:application/pdf;base64,${text.value}`, at: dataAt },
    dataAt,
    cache: null,
    breakpoint: null,
  });
}

/** Returns the texts of a document whose source is text. */
function sourceTexts(source: JsonObject, path: string): Result<readonly string[]> {
  const { type, media_type, data, content } = source;
  if (type !== "text" && type !== "content") {
    return unexpectedTag(source, path, ["base64", "text", "content"]);
  }
  const unknown = unknownIn(source, `${DOCUMENT}.source[${type}]`, path);
  if (unknown !== null) return unknown;
  if (type === "text") {
    if ((media_type ?? "text/plain") !== "text/plain") {
      return notAmong(`${path}.media_type`, ["text/plain"]);
    }
    const text = textAt(data, `${path}.data`);
    return text.ok ? success([text.value]) : text;
  }
  const blocks = contentBlocks(content, `${path}.content`);
  if (!blocks.ok) return blocks;
  const texts: string[] = [];
  for (const [index, block] of blocks.value.entries()) {
    const inside = `${path}.content.${index}`;
    if (block.type !== "text") return unexpectedTag(block, inside, ["text"]);
    // The whole document is lossy, so that its citations are not named.
    const text = blockText(block, { path: inside, listedPath: inside }, []);
    if (!text.ok) return text;
    texts.push(text.value);
  }
  return success(texts);
}

function sourceOf(
  block: JsonObject,
  holder: typeof IMAGE | typeof DOCUMENT,
  { path }: Place,
): Result<JsonObject> {
  return unknownIn(block, holder, path) ?? objectAt(block.source, `${path}.source`);
}
