import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { refuse, type Result, success } from "../../core/result.ts";
import {
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
} from "../chat_request/refusals.ts";

import type { Losses } from "../chat_request/losses.ts";
import type { Members } from "../../prompt/field_table.ts";
import { FIELDS } from "./fields.ts";

/** Content of one message for the local runtime: one text and a list of images. */
export interface Content {
  readonly text: string;
  /** Standard base64 with padding and without a `data:` prefix, in the order of the parts. */
  readonly images: readonly string[];
}

const PART: Readonly<Record<PartType, Members>> = {
  text: FIELDS.members("messages[].content[text]"),
  image_url: FIELDS.members("messages[].content[image_url]"),
  refusal: FIELDS.members("messages[assistant].content[refusal]"),
};

const IMAGE = FIELDS.members("messages[].content[image_url].image_url");

/** Types of content part that a role may contain. */
export type PartType = "text" | "image_url" | "refusal";

/**
 * Returns the content of a Chat message. Text parts are concatenated without separator, so a
 * message stays one message. A Refusal names the part that cannot be translated.
 */
export function parseContent(
  value: JsonValue,
  path: string,
  allowed: readonly PartType[],
  losses: Losses,
): Result<Content> {
  if (typeof value === "string") return success({ text: value, images: [] });
  if (!Array.isArray(value)) return wrongType(path, "a string or an array of parts");
  const texts: string[] = [];
  const images: string[] = [];
  const imagePaths: string[] = [];
  for (const [index, part] of value.entries()) {
    const at = `${path}[${index}]`;
    if (!isObject(part)) return wrongType(at, "an object");
    const read = parsePart(part, at, allowed);
    if (!read.ok) return read;
    texts.push(read.value.text);
    images.push(...read.value.images);
    if (part.type === "refusal" && part.refusal !== "") losses.add(`${at}.refusal`);
    if (part.type === "image_url") imagePaths.push(at);
  }
  // An image has no place in a text of the runtime.
  if (texts.some((text) => text !== "")) imagePaths.forEach((at) => losses.add(at));
  return success({ text: texts.join(""), images });
}

function parsePart(part: JsonObject, path: string, allowed: readonly PartType[]): Result<Content> {
  const type = allowed.find((candidate) => candidate === part.type);
  if (type === undefined) return unsupported(`${path}.type`);
  const unknown = unknownMember(part, PART[type], path);
  if (unknown !== null) return unknown;
  const value = part[type];
  switch (type) {
    case "text":
    case "refusal":
      return typeof value === "string"
        ? success({ text: value, images: [] })
        : wrongType(`${path}.${type}`, "a string");
    case "image_url":
      return parseImage(value, `${path}.image_url`);
  }
}

function parseImage(value: Optional, path: string): Result<Content> {
  if (!isObject(value)) return wrongType(path, "an object");
  const unknown = unknownMember(value, IMAGE, path);
  if (unknown !== null) return unknown;
  // The runtime always processes the full image.
  const detail = value.detail ?? "auto";
  if (detail !== "auto" && detail !== "high") return unsupported(`${path}.detail`);
  if (typeof value.url !== "string") return missing(`${path}.url`);
  const data = parseBase64(value.url, `${path}.url`);
  return data.ok ? success({ text: "", images: [data.value] }) : data;
}

/**
 * Returns the base64 data of an image URL. The runtime accepts only base64; neither the runtime nor
 * the gateway fetches an image.
 */
function parseBase64(url: string, path: string): Result<string> {
  const comma = url.indexOf(",");
  const header = url.slice(0, Math.max(comma, 0)).toLowerCase();
  if (!header.startsWith("data:") || !header.endsWith(";base64")) {
    return unsupported(path, "Send the image as a data: URL in base64.");
  }
  const data = url.slice(comma + 1).replace(/\s+/g, "").replaceAll("-", "+").replaceAll("_", "/");
  const end = data.endsWith("==") ? -2 : data.endsWith("=") ? -1 : data.length;
  const digits = data.slice(0, end);
  // The pattern searches for one foreign character: a pattern that matches the whole text would
  // need a stack as long as the image.
  if (digits === "" || digits.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(digits)) {
    return refuse("invalid_value", `'${path}' must hold base64 data.`, path);
  }
  return success(digits + "=".repeat((4 - digits.length % 4) % 4));
}
