import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Failed, type Result, success } from "../../core/result.ts";
import {
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";
import type { Losses } from "../chat_request/losses.ts";
import type { Members } from "../../prompt/field_table.ts";
import { FIELDS } from "./fields.ts";
import { documentSource, imageSource } from "./sources.ts";

const PART: Readonly<Record<PartType, Members>> = {
  text: FIELDS.members("messages[].content[text]"),
  image_url: FIELDS.members("messages[].content[image_url]"),
  file: FIELDS.members("messages[].content[file]"),
  refusal: FIELDS.members("messages[assistant].content[refusal]"),
};

const IMAGE = FIELDS.members("messages[].content[image_url].image_url");

const FILE = FIELDS.members("messages[].content[file].file");

const CACHE_CONTROL = FIELDS.members("cache_control");

/** Types of content part that a role may contain. */
export type PartType = "text" | "image_url" | "file" | "refusal";

/**
 * Returns the content of a Chat message as Messages blocks. Empty text is omitted, because the
 * upstream refuses an empty text block. A Refusal names the part that cannot be translated.
 */
export function encodeContent(
  content: JsonValue,
  path: string,
  allowed: readonly PartType[],
  losses: Losses,
): Result<readonly JsonObject[]> {
  if (typeof content === "string") return success(textBlocks(content));
  if (!Array.isArray(content)) return wrongType(path, "a string or an array of parts");
  const blocks: JsonObject[] = [];
  for (const [index, part] of content.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(part)) return wrongType(at, "an object");
    const read = encodePart(part, at, allowed, losses);
    if (!read.ok) return read;
    const cached = withCacheControl(read.value, part, at);
    if (!cached.ok) return cached;
    blocks.push(...cached.value);
  }
  return success(blocks);
}

/** Returns a text block; an empty list if the text is empty. */
export function textBlocks(text: string): readonly JsonObject[] {
  return text === "" ? [] : [{ type: "text", text }];
}

/**
 * Returns the `cache_control` of a part, a message or a tool, an extension that many clients send;
 * an empty object if absent.
 */
export function cacheControl(holder: JsonObject, path: string): Result<JsonObject> {
  const given = holder.cache_control ?? null;
  const at = `${path}.cache_control`;
  if (given === null) return success({});
  if (!isObject(given)) return wrongType(at, "an object");
  if (given.type !== "ephemeral") return unsupported(`${at}.type`);
  const ttl = given.ttl ?? null;
  if (ttl !== null && ttl !== "5m" && ttl !== "1h") return unsupported(`${at}.ttl`);
  return unknownMember(given, CACHE_CONTROL, at) ?? success({ cache_control: given });
}

/** Returns the blocks with the holder's `cache_control` on the last block. */
export function withCacheControl(
  blocks: readonly JsonObject[],
  holder: JsonObject,
  path: string,
): Result<readonly JsonObject[]> {
  const control = cacheControl(holder, path);
  if (!control.ok) return control;
  if (control.value.cache_control === undefined) return success(blocks);
  const last = blocks.at(-1);
  // Thinking and empty text cannot be cached (Messages API, prompt cache).
  const isCacheable = last !== undefined && last.type !== "thinking" &&
    last.type !== "redacted_thinking";
  if (!isCacheable) return unsupported(`${path}.cache_control`, "There is nothing to cache.");
  return success([...blocks.slice(0, -1), { ...last, ...control.value }]);
}

function encodePart(
  part: JsonObject,
  path: string,
  allowed: readonly PartType[],
  losses: Losses,
): Result<readonly JsonObject[]> {
  const type = allowed.find((candidate) => candidate === part.type);
  if (type === undefined) return unsupported(`${path}.type`);
  const unknown = unknownMember(part, PART[type], path);
  if (unknown !== null) return unknown;
  const value = part[type];
  const at = `${path}.${type}`;
  switch (type) {
    case "text":
    case "refusal":
      if (typeof value !== "string") return wrongOrMissing(value, at, "a string");
      if (type === "refusal" && value !== "") losses.add(at);
      return success(textBlocks(value));
    case "image_url":
      return isObject(value)
        ? encodeImage(value, at, losses)
        : wrongOrMissing(value, at, "an object");
    case "file":
      return isObject(value) ? encodeFile(value, at) : wrongOrMissing(value, at, "an object");
  }
}

function wrongOrMissing(value: Optional, path: string, expected: string): Failed<Refusal> {
  return (value ?? null) === null ? missing(path) : wrongType(path, expected);
}

function encodeImage(
  image: JsonObject,
  path: string,
  losses: Losses,
): Result<readonly JsonObject[]> {
  const unknown = unknownMember(image, IMAGE, path);
  if (unknown !== null) return unknown;
  // The upstream always processes an image at full size.
  const detail = image.detail ?? "auto";
  if (detail !== "auto" && detail !== "high") return unsupported(`${path}.detail`);
  if (detail === "high") losses.add(`${path}.detail`);
  if (typeof image.url !== "string") return wrongOrMissing(image.url, `${path}.url`, "a string");
  const source = imageSource(image.url, `${path}.url`);
  return source.ok ? success([{ type: "image", source: source.value }]) : source;
}

function encodeFile(file: JsonObject, path: string): Result<readonly JsonObject[]> {
  const unknown = unknownMember(file, FILE, path);
  if (unknown !== null) return unknown;
  const { file_data: data } = file;
  const title = file.filename ?? null;
  if (typeof data !== "string") return wrongOrMissing(data, `${path}.file_data`, "a string");
  if (title !== null && typeof title !== "string") return wrongType(`${path}.filename`, "a string");
  const source = documentSource(data, `${path}.file_data`);
  if (!source.ok) return source;
  if (source.value.data === "") return wrongValue(`${path}.file_data`, "a file with content");
  return success([{
    type: "document",
    source: source.value,
    ...title !== null && title !== "" && { title },
  }]);
}
