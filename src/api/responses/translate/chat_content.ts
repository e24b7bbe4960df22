import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import type { Losses } from "../../../wires/chat_request/losses.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unsupported,
  wrongType,
} from "../../../wires/chat_request/refusals.ts";

/**
 * Returns the client's path of a member inside an item. A stored item has a path below the field
 * that refers to it.
 */
export type PathBelow = (below: string) => string;

/** Types of content parts that some messages accept in addition to text. */
export type InputPart = "input_image" | "input_file";

const TEXT_TYPES: readonly Optional[] = ["input_text", "output_text"];

/**
 * Translates the content of an input item into the content of a Chat message: a text, or parts with
 * the same indexes. Refuses a part without a counterpart in Chat.
 */
export function chatContent(
  content: Optional,
  at: PathBelow,
  allowed: readonly InputPart[],
  losses: Losses,
): Result<JsonValue> {
  if ((content ?? null) === null) return missing(at(""));
  if (typeof content === "string") return success(content);
  if (!Array.isArray(content)) return wrongType(at(""), "a string or an array of parts");
  const parts: JsonObject[] = [];
  for (const [index, part] of content.entries()) {
    const inside: PathBelow = (below) => at(`[${index}]${below}`);
    if (!isObject(part)) return wrongType(inside(""), "an object");
    const made = chatPart(part, inside, allowed, losses);
    if (!made.ok) return made;
    parts.push(made.value);
  }
  const [first] = parts;
  if (first === undefined) return success("");
  // Many servers accept only a string for content of a single text.
  return success(parts.length === 1 && typeof first.text === "string" ? first.text : parts);
}

/** Content and refusal of an earlier assistant message. */
export interface AssistantContent {
  readonly text: string;
  readonly refusal: string;
}

/**
 * Translates the content of an assistant message; its text parts are concatenated without
 * separator.
 */
export function assistantContent(
  content: Optional,
  at: PathBelow,
  losses: Losses,
): Result<AssistantContent> {
  if ((content ?? null) === null) return missing(at(""));
  if (typeof content === "string") return success({ text: content, refusal: "" });
  if (!Array.isArray(content)) return wrongType(at(""), "a string or an array of parts");
  const result = { text: "", refusal: "" };
  for (const [index, part] of content.entries()) {
    if (!isObject(part)) return wrongType(at(`[${index}]`), "an object");
    const isText = TEXT_TYPES.includes(part.type);
    if (!isText && part.type !== "refusal") return unsupported(at(`[${index}].type`));
    const member = isText ? "text" : "refusal";
    addAnnotations(part, (below) => at(`[${index}]${below}`), losses);
    const text = part[member];
    if (typeof text !== "string") return notText(text, at(`[${index}].${member}`));
    result[member] += text;
  }
  return success(result);
}

function chatPart(
  part: JsonObject,
  at: PathBelow,
  allowed: readonly InputPart[],
  losses: Losses,
): Result<JsonObject> {
  if (TEXT_TYPES.includes(part.type)) {
    const { text } = part;
    addAnnotations(part, at, losses);
    return typeof text === "string" ? success({ type: "text", text }) : notText(text, at(".text"));
  }
  const type = allowed.find((candidate) => candidate === part.type);
  switch (type) {
    case "input_image":
      return imagePart(part, at);
    case "input_file":
      return filePart(part, at);
    case undefined:
      return unsupported(at(".type"));
  }
}

/** Records the annotations of a text, which have no place in a Chat request. */
function addAnnotations({ annotations }: JsonObject, at: PathBelow, losses: Losses): void {
  if (!isEmpty(annotations)) losses.add(at(".annotations"));
}

function imagePart(part: JsonObject, at: PathBelow): Result<JsonObject> {
  const { image_url: url } = part;
  const detail = part.detail ?? null;
  if ((part.file_id ?? null) !== null) return unsupported(at(".file_id"), "Send the image itself.");
  if (typeof url !== "string") return notText(url, at(".image_url"));
  if (detail === "original") return unsupported(at(".detail"));
  if (detail !== null && typeof detail !== "string") return wrongType(at(".detail"), "a string");
  return success({ type: "image_url", image_url: { url, ...detail !== null && { detail } } });
}

const FILE_MEMBERS = ["file_id", "filename", "file_data"] as const;

function filePart(part: JsonObject, at: PathBelow): Result<JsonObject> {
  if ((part.file_url ?? null) !== null) {
    return unsupported(at(".file_url"), "Send the file itself.");
  }
  if ((part.detail ?? "auto") !== "auto") return unsupported(at(".detail"));
  const file: JsonObject = {};
  for (const member of FILE_MEMBERS) {
    const value = part[member] ?? null;
    if (value === null) continue;
    if (typeof value !== "string") return wrongType(at(`.${member}`), "a string");
    file[member] = value;
  }
  return success({ type: "file", file });
}

function notText(value: Optional, path: string): Result<never> {
  return (value ?? null) === null ? missing(path) : wrongType(path, "a string");
}
