import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../carry.ts";
import type { ChatField } from "../chat_fields.ts";
import { textContent } from "../content.ts";
import type { CacheMark, Content, FieldRef, Part } from "../prompt.ts";
import { allIn, mapObjects, requiredObject, requiredText, textOf } from "../read.ts";
import { unsupported, wrongType } from "../refusals.ts";

/** Types of content part with the rows of the parts in messages of a role. */
type Allowed = Readonly<Partial<Record<PartType, ChatField>>>;

type PartType = "text" | "image_url" | "file" | "refusal";

/** Parts that messages of each role may have. */
const ALLOWED = {
  system: { text: "messages[system].content[text]" },
  user: {
    text: "messages[user].content[text]",
    image_url: "messages[user].content[image_url]",
    file: "messages[user].content[file]",
  },
  assistant: {
    text: "messages[assistant].content[text].text",
    refusal: "messages[assistant].content[refusal].refusal",
  },
  tool: {
    text: "messages[tool].content[text]",
    image_url: "messages[tool].content[image_url]",
    file: "messages[tool].content[file]",
  },
  function: {
    text: "messages[].content[text].text",
    image_url: "messages[function].content[image_url]",
    file: "messages[tool].content[file]",
  },
} as const satisfies Readonly<Record<string, Allowed>>;

/** Role of a message, as far as its content depends on it. */
export type ContentRole = keyof typeof ALLOWED;

/** Returns the content of a Chat message. A Refusal names the part that is wrong or not carried. */
export function parseContent(
  content: JsonValue,
  role: ContentRole,
  path: string,
  carrier: Carrier,
): Result<Content> {
  const at: FieldRef = { field: `messages[${role}].content`, path };
  if (typeof content === "string") {
    return success(textContent(content, at));
  }
  if (!Array.isArray(content)) return wrongType(path, "a string or an array of parts");
  const parts = mapObjects(content, path, (part, inside) => parsePart(part, role, inside, carrier));
  return parts.ok ? success({ at, isString: false, parts: parts.value }) : parts;
}

function parsePart(
  part: JsonObject,
  role: ContentRole,
  path: string,
  carrier: Carrier,
): Result<Part> {
  const allowed: Allowed = ALLOWED[role];
  const type = (["text", "image_url", "file", "refusal"] as const).find((one) => one === part.type);
  const field = type === undefined ? undefined : allowed[type];
  if (type === undefined || field === undefined) return unsupported(`${path}.type`);
  const holder = role === "assistant" ? "messages[assistant]" : "messages[]";
  switch (type) {
    case "text":
      return carrier.unknown(part, `${holder}.content[text]`, path) ??
        parseText(part, type, { field, path }, path, carrier);
    case "refusal":
      return carrier.unknown(part, "messages[assistant].content[refusal]", path) ??
        parseText(part, type, { field, path: `${path}.refusal` }, path, carrier);
    case "image_url":
    case "file": {
      const at: FieldRef = { field, path, refusedPath: `${path}.type` };
      return carrier.use(at) ?? carrier.unknown(part, `messages[].content[${type}]`, path) ??
        (type === "file" ? parseFile(part, at, carrier) : parseImage(part, at, carrier));
    }
  }
}

function parseText(
  part: JsonObject,
  kind: "text" | "refusal",
  at: FieldRef,
  path: string,
  carrier: Carrier,
): Result<Part> {
  const text = requiredText(part[kind], { ...at, path: `${path}.${kind}` });
  if (!text.ok) return text;
  const refused = text.value.value === "" ? null : carrier.use(at);
  return refused ?? success({ kind, text: text.value.value, at, ...marks(part, path, carrier) });
}

function parseImage(part: JsonObject, at: FieldRef, carrier: Carrier): Result<Part> {
  const path = `${at.path}.image_url`;
  const image = requiredObject(part.image_url, path);
  if (!image.ok) return image;
  const unknown = carrier.unknown(image.value, "messages[].content[image_url].image_url", path);
  if (unknown !== null) return unknown;
  const { url, detail = null } = image.value;
  const detailAt = {
    field: "messages[].content[image_url].image_url.detail",
    path: `${path}.detail`,
  } as const;
  const refused = detail === null ? null : carrier.use(detailAt, detail);
  if (refused !== null) return refused;
  const read = allIn({
    detail: textOf(detail, detailAt),
    url: requiredText(url, {
      field: "messages[].content[image_url].image_url.url",
      path: `${path}.url`,
    }),
  });
  return read.ok
    ? success({ kind: "image", at, ...read.value, ...marks(part, at.path, carrier) })
    : read;
}

function parseFile(part: JsonObject, at: FieldRef, carrier: Carrier): Result<Part> {
  const path = `${at.path}.file`;
  const file = requiredObject(part.file, path);
  if (!file.ok) return file;
  const unknown = carrier.unknown(file.value, "messages[].content[file].file", path);
  if (unknown !== null) return unknown;
  const placeOf = (name: "file_id" | "filename" | "file_data"): FieldRef => ({
    field: `messages[].content[file].file.${name}`,
    path: `${path}.${name}`,
  });
  const member = (name: "file_id" | "filename" | "file_data") =>
    textOf(file.value[name], placeOf(name));
  const read = allIn({
    id: member("file_id"),
    name: member("filename"),
    data: member("file_data"),
  });
  return read.ok
    ? success({
      kind: "file",
      at,
      ...read.value,
      dataAt: placeOf("file_data"),
      ...marks(part, at.path, carrier),
    })
    : read;
}

/** Returns the marks of a part for a cache, which each protocol carries or ignores. */
function marks(part: JsonObject, path: string, carrier: Carrier) {
  return {
    cache: parseCache(part, path, carrier),
    breakpoint: part.prompt_cache_breakpoint ?? null,
  };
}

/**
 * Returns the `cache_control` of a part, a message or a tool, or that of the request, which has no
 * path; null if it is absent.
 */
export function parseCache(
  holder: JsonObject,
  path: string | null,
  carrier: Carrier,
): CacheMark | null {
  const value = holder.cache_control ?? null;
  const own = path === null ? "cache_control" : `${path}.cache_control`;
  const at: FieldRef = { field: "cache_control.type", path: own };
  if (value === null) return null;
  if (!isObject(value)) return wrongType(at.path, "an object");
  if (value.type !== "ephemeral") return unsupported(`${at.path}.type`);
  const ttl = value.ttl ?? null;
  if (ttl !== null && ttl !== "5m" && ttl !== "1h") return unsupported(`${at.path}.ttl`);
  return carrier.unknown(value, "cache_control", at.path) ?? success({ value, at });
}
