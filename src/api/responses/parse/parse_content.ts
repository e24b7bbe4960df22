import type { JsonObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import { type Carrier, usedBy } from "../../../prompt/carry.ts";
import type { Content, FieldRef, Part } from "../../../prompt/prompt.ts";
import { contentOf, textContent, textPart } from "../../../prompt/content.ts";
import { allIn, mapObjects, requiredText, textOf } from "../../../prompt/read.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unsupported,
  wrongType,
} from "../../../prompt/refusals.ts";

/** The messages that may have a content, and the messages whose images and files it may have. */
interface Allowed {
  readonly role: "system" | "user" | "tool";
  /** Null if it must have texts only. */
  readonly media: "user" | "tool" | null;
}

const TEXT_TYPES: readonly Optional[] = ["input_text", "output_text"];

/** Returns the content of an item. A Refusal names the part that is wrong or not carried. */
export function parseContent(
  given: Optional,
  path: string,
  allowed: Allowed,
  carrier: Carrier,
): Result<Content> {
  const at: FieldRef = { field: `messages[${allowed.role}].content`, path };
  if ((given ?? null) === null) return missing(path);
  if (typeof given === "string") return success(textContent(given, at));
  if (!Array.isArray(given)) return wrongType(path, "a string or an array of parts");
  const parts = mapObjects(
    given,
    path,
    (part, inside) => parsePart(part, inside, allowed, carrier),
  );
  return parts.ok ? success(contentOf(parts.value, at)) : parts;
}

/** Content and refusal of an earlier assistant message. */
export interface AssistantTexts {
  readonly text: string;
  readonly refusal: string;
}

/** Returns the texts of an assistant message; its text parts are concatenated without separator. */
export function parseAssistantTexts(
  given: Optional,
  path: string,
  carrier: Carrier,
): Result<AssistantTexts> {
  if ((given ?? null) === null) return missing(path);
  if (typeof given === "string") return success({ text: given, refusal: "" });
  if (!Array.isArray(given)) return wrongType(path, "a string or an array of parts");
  const texts = mapObjects(given, path, (part, inside) => {
    const isText = TEXT_TYPES.includes(part.type);
    if (!isText && part.type !== "refusal") return unsupported(`${inside}.type`);
    loseAnnotations(part, inside, carrier);
    const member = isText ? "text" : "refusal";
    const at = { field: "messages[assistant].content", path: `${inside}.${member}` } as const;
    const text = requiredText(part[member], at);
    return text.ok ? success({ member, text: text.value.value } as const) : text;
  });
  if (!texts.ok) return texts;
  const joined = { text: "", refusal: "" };
  for (const { member, text } of texts.value) joined[member] += text;
  return success(joined);
}

function parsePart(
  part: JsonObject,
  path: string,
  { role, media }: Allowed,
  carrier: Carrier,
): Result<Part> {
  if (TEXT_TYPES.includes(part.type)) {
    const at: FieldRef = { field: `messages[${role}].content[text]`, path };
    loseAnnotations(part, path, carrier);
    const text = requiredText(part.text, { ...at, path: `${path}.text` });
    return text.ok ? carrier.use(at) ?? success(textPart(text.value.value, at)) : text;
  }
  if (media !== null && part.type === "input_image") return parseImage(part, path, media, carrier);
  if (media !== null && part.type === "input_file") return parseFile(part, path, media, carrier);
  return unsupported(`${path}.type`);
}

/** Records the annotations of a text, which have no place in a prompt. */
function loseAnnotations({ annotations }: JsonObject, path: string, carrier: Carrier): void {
  if (!isEmpty(annotations)) carrier.lose(`${path}.annotations`);
}

type Media = NonNullable<Allowed["media"]>;

function parseImage(part: JsonObject, path: string, media: Media, carrier: Carrier): Result<Part> {
  const at: FieldRef = {
    field: `messages[${media}].content[image_url]`,
    path,
    refusedPath: `${path}.type`,
  };
  if ((part.file_id ?? null) !== null) {
    return unsupported(`${path}.file_id`, "Send the image itself.");
  }
  const members = "messages[].content[image_url].image_url";
  const url = requiredText(part.image_url, { field: `${members}.url`, path: `${path}.image_url` });
  if (!url.ok) return url;
  if (part.detail === "original") return unsupported(`${path}.detail`);
  const detailAt = { field: `${members}.detail`, path: `${path}.detail` } as const;
  const detail = textOf(part.detail, detailAt);
  if (!detail.ok) return detail;
  const used = carrier.use(at) ?? usedBy(carrier, detail);
  if (!used.ok) return used;
  const own = { kind: "image", at, url: url.value, detail: detail.value } as const;
  return success({ ...own, cache: null, breakpoint: null });
}

function parseFile(part: JsonObject, path: string, media: Media, carrier: Carrier): Result<Part> {
  const at: FieldRef = {
    field: `messages[${media}].content[file]`,
    path,
    refusedPath: `${path}.type`,
  };
  if ((part.file_url ?? null) !== null) {
    return unsupported(`${path}.file_url`, "Send the file itself.");
  }
  if ((part.detail ?? "auto") !== "auto") return unsupported(`${path}.detail`);
  const placeOf = (name: "file_id" | "filename" | "file_data") =>
    ({ field: `messages[].content[file].file.${name}`, path: `${path}.${name}` }) as const;
  const member = (name: "file_id" | "filename" | "file_data") => textOf(part[name], placeOf(name));
  const read = allIn({
    id: member("file_id"),
    name: member("filename"),
    data: member("file_data"),
  });
  if (!read.ok) return read;
  const { id, name, data } = read.value;
  for (const given of [{ at }, id, name, data]) {
    const refused = given === null ? null : carrier.use(given.at);
    if (refused !== null) return refused;
  }
  const dataAt = placeOf("file_data");
  return success({ kind: "file", at, ...read.value, dataAt, cache: null, breakpoint: null });
}
