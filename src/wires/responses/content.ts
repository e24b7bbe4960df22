import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import {
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";

import { FIELDS } from "./fields.ts";

/** Types of content part that a message may contain. */
export type PartType = "text" | "image_url" | "file" | "refusal";

/** Translates a part of a known type. `value` is the field with the name of the type. */
type PartReader = (part: JsonObject, path: string) => Result<JsonObject>;

/**
 * Returns the content of a Chat message, except of an assistant. A string stays a string; parts
 * become Responses parts. A Refusal names the part that cannot be translated.
 */
export function inputContent(
  content: Optional,
  path: string,
  allowed: readonly PartType[],
): Result<JsonValue> {
  if ((content ?? null) === null) return missing(path);
  if (typeof content === "string") return success(content);
  const parts = encodeParts(content, path, allowed, inputPart);
  return parts.ok ? success([...parts.value]) : parts;
}

/** Returns the content of an assistant message as parts; an empty list if absent. */
export function spokenParts(content: Optional, path: string): Result<readonly JsonObject[]> {
  if ((content ?? null) === null) return success([]);
  if (typeof content === "string") return success([outputText(content)]);
  return encodeParts(content, path, ["text", "refusal"], spokenPart);
}

/** Returns a text part of an output message. */
function outputText(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function encodeParts(
  content: Optional,
  path: string,
  allowed: readonly PartType[],
  read: PartReader,
): Result<readonly JsonObject[]> {
  if (!Array.isArray(content)) return wrongType(path, "a string or an array of parts");
  if (content.length === 0) return wrongValue(path, "a text or parts, not empty");
  const parts: JsonObject[] = [];
  for (const [index, part] of content.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(part)) return wrongType(at, "an object");
    if (!allowed.some((type) => type === part.type)) return unsupported(`${at}.type`);
    const made = read(part, at);
    if (!made.ok) return made;
    parts.push(made.value);
  }
  return success(parts);
}

function spokenPart(part: JsonObject, path: string): Result<JsonObject> {
  const member = part.type === "refusal" ? "refusal" : "text";
  const unknown = unknownMember(
    part,
    FIELDS.members(`messages[assistant].content[${member}]`),
    path,
  );
  if (unknown !== null) return unknown;
  const said = part[member];
  if (typeof said !== "string") return notText(said, `${path}.${member}`);
  return success(member === "refusal" ? { type: "refusal", refusal: said } : outputText(said));
}

function inputPart(part: JsonObject, path: string): Result<JsonObject> {
  const type = part.type === "file" || part.type === "image_url" ? part.type : "text";
  const unknown = unknownMember(part, FIELDS.members(`messages[].content[${type}]`), path);
  if (unknown !== null) return unknown;
  const made = INPUT[type](part[type], `${path}.${type}`);
  if (!made.ok) return made;
  const mark = part.prompt_cache_breakpoint ?? null;
  return success({ ...made.value, ...mark !== null && { prompt_cache_breakpoint: mark } });
}

const INPUT: Readonly<
  Record<"text" | "image_url" | "file", (value: Optional, path: string) => Result<JsonObject>>
> = { text: inputText, image_url: inputImage, file: inputFile };

function inputText(text: Optional, path: string): Result<JsonObject> {
  return typeof text === "string" ? success({ type: "input_text", text }) : notText(text, path);
}

/** Returns an image part. The URL is not nested, and `detail` is required (Responses API, input image). */
function inputImage(image: Optional, path: string): Result<JsonObject> {
  if (!isObject(image)) return notObject(image, path);
  const unknown = unknownMember(image, IMAGE, path);
  if (unknown !== null) return unknown;
  const { url } = image;
  const detail = image.detail ?? "auto";
  if (typeof url !== "string") return notText(url, `${path}.url`);
  if (typeof detail !== "string") return wrongType(`${path}.detail`, "a string");
  return success({ type: "input_image", image_url: url, detail });
}

const IMAGE = FIELDS.members("messages[].content[image_url].image_url");

const FILE_MEMBERS = FIELDS.members("messages[].content[file].file");

function inputFile(file: Optional, path: string): Result<JsonObject> {
  if (!isObject(file)) return notObject(file, path);
  const unknown = unknownMember(file, FILE_MEMBERS, path);
  if (unknown !== null) return unknown;
  const made: JsonObject = { type: "input_file" };
  for (const member of FILE_MEMBERS) {
    const value = file[member] ?? null;
    if (value === null) continue;
    if (typeof value !== "string") return wrongType(`${path}.${member}`, "a string");
    made[member] = value;
  }
  return success(made);
}

function notText(given: Optional, path: string): Result<never> {
  return (given ?? null) === null ? missing(path) : wrongType(path, "a string");
}

function notObject(given: Optional, path: string): Result<never> {
  return (given ?? null) === null ? missing(path) : wrongType(path, "an object");
}
