import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import type { Members } from "../../../prompt/members.ts";
import type { WireName } from "../../../wires/wire.ts";
import { notAmong, unknownMember, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { blockText, contentBlocks, textPart, unexpectedTag } from "./content.ts";
import { MESSAGES_FIELDS } from "./fields.ts";
import type { Place } from "./place.ts";

const DOCUMENT = "messages[user].content[document]";

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/** Name of a PDF file without a title. */
const PDF_NAME = "document.pdf";

/** Returns the Chat part of an image block. */
export function imagePart(block: JsonObject, { at }: Place, wire: WireName): Result<JsonObject> {
  const source = sourceOf(block, MESSAGES_FIELDS.members("messages[user].content[image]"), at);
  if (!source.ok) return source;
  const { type, media_type, data, url } = source.value;
  const path = `${at}.source`;
  switch (type) {
    case "base64": {
      const unknown = unknownMember(
        source.value,
        MESSAGES_FIELDS.members("messages[user].content[image].source[base64]"),
        path,
      );
      if (unknown !== null) return unknown;
      if (typeof media_type !== "string" || !IMAGE_TYPES.includes(media_type)) {
        return notAmong(`${path}.media_type`, IMAGE_TYPES);
      }
      if (typeof data !== "string") return wrongType(data, `${path}.data`, "a valid string");
      return success(imageUrl(`data:${media_type};base64,${data}`));
    }
    case "url": {
      const unknown = unknownMember(
        source.value,
        MESSAGES_FIELDS.members("messages[user].content[image].source[url]"),
        path,
      );
      if (unknown !== null) return unknown;
      if (typeof url !== "string") return wrongType(url, `${path}.url`, "a valid string");
      if (wire !== "local") return success(imageUrl(url));
      return unsupported(`${at}.image`, SENTENCES.imageUrl);
    }
    default:
      return unexpectedTag(source.value, path, ["base64", "url"]);
  }
}

function imageUrl(url: string): JsonObject {
  return { type: "image_url", image_url: { url } };
}

/**
 * Returns the Chat parts of a document block: the file of a PDF, or texts. Title and context, if
 * given, are lines before the text. Fields that are kept only as text are added to `lossy`.
 */
export function documentParts(
  block: JsonObject,
  { at, field }: Place,
  wire: WireName,
  lossy: string[],
): Result<readonly JsonObject[]> {
  const source = sourceOf(block, MESSAGES_FIELDS.members(DOCUMENT), at);
  if (!source.ok) return source;
  const title = block.title ?? "";
  const context = block.context ?? "";
  if (typeof title !== "string") return wrongType(title, `${at}.title`, "a valid string");
  if (typeof context !== "string") return wrongType(context, `${at}.context`, "a valid string");
  const citations = block.citations ?? {};
  if (!isObject(citations)) return wrongType(citations, `${at}.citations`, "a valid dictionary");
  if ((citations.enabled ?? false) !== false) return unsupported(`${at}.citations.enabled`);
  const unknown = unknownMember(
    citations,
    MESSAGES_FIELDS.members(`${DOCUMENT}.citations`),
    `${at}.citations`,
  );
  if (unknown !== null) return unknown;
  if (source.value.type === "base64") {
    const file = pdfPart(source.value, title, at, wire);
    if (!file.ok || context === "") return file.ok ? success([file.value]) : file;
    lossy.push(`${field}.context`);
    return success([textPart(context), file.value]);
  }
  const texts = sourceTexts(source.value, `${at}.source`);
  if (!texts.ok) return texts;
  lossy.push(field);
  const [first = "", ...others] = texts.value;
  const head = [title, context, first].filter((text) => text !== "").join("\n");
  return success([head, ...others].filter((text) => text !== "").map(textPart));
}

function pdfPart(
  source: JsonObject,
  title: string,
  at: string,
  wire: WireName,
): Result<JsonObject> {
  const path = `${at}.source`;
  const { media_type, data } = source;
  const unknown = unknownMember(
    source,
    MESSAGES_FIELDS.members(`${DOCUMENT}.source[base64]`),
    path,
  );
  if (unknown !== null) return unknown;
  if (media_type !== "application/pdf") return notAmong(`${path}.media_type`, ["application/pdf"]);
  if (typeof data !== "string") return wrongType(data, `${path}.data`, "a valid string");
  if (wire === "local") {
    return unsupported(`${at}.document`, SENTENCES.pdf);
  }
  const filename = title === "" ? PDF_NAME : title;
  const file = { file_data: `data:application/pdf;base64,${data}`, filename };
  return success({ type: "file", file });
}

/** Returns the texts of a document whose source is text. */
function sourceTexts(source: JsonObject, path: string): Result<readonly string[]> {
  const { type, media_type, data, content } = source;
  if (type === "text") {
    const unknown = unknownMember(
      source,
      MESSAGES_FIELDS.members(`${DOCUMENT}.source[text]`),
      path,
    );
    if (unknown !== null) return unknown;
    if ((media_type ?? "text/plain") !== "text/plain") {
      return notAmong(`${path}.media_type`, ["text/plain"]);
    }
    return typeof data === "string"
      ? success([data])
      : wrongType(data, `${path}.data`, "a valid string");
  }
  if (type !== "content") return unexpectedTag(source, path, ["base64", "text", "content"]);
  const unknown = unknownMember(
    source,
    MESSAGES_FIELDS.members(`${DOCUMENT}.source[content]`),
    path,
  );
  if (unknown !== null) return unknown;
  const blocks = contentBlocks(content, `${path}.content`);
  if (!blocks.ok) return blocks;
  const texts: string[] = [];
  for (const [index, block] of blocks.value.entries()) {
    const at = `${path}.content.${index}`;
    if (block.type !== "text") return unexpectedTag(block, at, ["text"]);
    const text = blockText(block, at);
    if (!text.ok) return text;
    texts.push(text.value);
  }
  return success(texts);
}

function sourceOf(
  block: JsonObject,
  known: Members,
  at: string,
): Result<JsonObject> {
  const unknown = unknownMember(block, known, at);
  if (unknown !== null) return unknown;
  const { source } = block;
  return isObject(source)
    ? success(source)
    : wrongType(source, `${at}.source`, "a valid dictionary");
}
