import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import { responseObjects } from "./events_of.ts";
import type { StoredBody } from "./written_record.ts";

/** Parts of a record in which a text is searched. */
export type SearchedPart = "request" | "response";

/** Members that distinguish the texts of one stream from each other. */
const INDEXES = ["index", "output_index", "content_index", "summary_index", "item_id"] as const;

/** Levels of a JSON text below which no text is searched. */
const MAX_DEPTH_COUNT = 200;

/** Returns a text as it is compared: letter case and the length of white space do not count. */
export function comparable(text: string): string {
  return text.replace(/\s+/g, " ").toLowerCase();
}

/**
 * Returns the texts of a part in which a search looks: the decoded strings of JSON texts, and the
 * pieces of a stream joined, so that neither an escape nor the end of an event hides a word.
 */
export function searchedTexts(body: StoredBody, part: SearchedPart): string[] {
  const { request, response } = body;
  if (part === "request") return request?.body ? textsIn(request.body) : [];
  if (response === undefined) return [];
  if (response.body !== null) return textsIn(response.body);
  const found: string[] = [];
  const channels = new Map<string, string[]>();
  for (const event of responseObjects(response)) collect(event, "", "", found, channels);
  return [...found, ...channels.values().map((pieces) => pieces.join(""))].flatMap(withInner);
}

/** Returns the strings of a JSON text; the text itself if it is none. */
function textsIn(text: string): string[] {
  const value = parseJson(text);
  if (!isObject(value)) return [text];
  const found: string[] = [];
  collect(value, "", "", found, null);
  return found.flatMap(withInner);
}

/** Returns a text with the strings in it if it is a JSON text, such as the arguments of a tool. */
function withInner(text: string): string[] {
  const value = text.startsWith("{") || text.startsWith("[") ? parseJson(text) : undefined;
  if (!isObject(value) && !Array.isArray(value)) return [text];
  const found = [text];
  collect(value, "", "", found, null);
  return found;
}

/**
 * Collects the strings of a value. Pieces of a stream go to the channel of their path and indexes.
 */
function collect(
  value: JsonValue | undefined,
  path: string,
  place: string,
  found: string[],
  channels: Map<string, string[]> | null,
  depth = 0,
): void {
  if (depth > MAX_DEPTH_COUNT) return;
  if (typeof value === "string") {
    if (channels === null || !/(^|\.)delta(\.|$)|^\.choices\.text$/.test(path)) {
      found.push(value);
      return;
    }
    const key = `${path} ${place}`;
    const pieces = channels.get(key);
    if (pieces === undefined) channels.set(key, [value]);
    else pieces.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, path, place, found, channels, depth + 1);
  } else if (isObject(value)) {
    const inner = channels === null ? place : place + indexesOf(value);
    for (const [name, member] of Object.entries(value)) {
      collect(member, `${path}.${name}`, inner, found, channels, depth + 1);
    }
  }
}

function indexesOf(value: JsonObject): string {
  return INDEXES.flatMap((name) => value[name] === undefined ? [] : [`${name}=${value[name]} `])
    .join("");
}
