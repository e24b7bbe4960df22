import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import { textBeginning } from "../core/text_beginning.ts";
import { responseObjects } from "./events_of.ts";
import type { StoredBody } from "./written_record.ts";

/** Parts of a record in which a text is searched; `tools`: what tools get and return, in both. */
export const SEARCHED_PARTS = ["request", "response", "tools"] as const;

/** A part of a record in which a text is searched. */
export type SearchedPart = (typeof SEARCHED_PARTS)[number];

/** Members that distinguish the texts of one stream from each other. */
const INDEXES = ["index", "output_index", "content_index", "summary_index", "item_id"] as const;

/** Levels of a JSON text below which no text is searched. */
const MAX_DEPTH_COUNT = 200;

/**
 * Characters of the place of a piece, and of a name or an index in it: no protocol has more, and
 * each piece has a place. A text with a longer one is whole.
 */
const MAX_PLACE_CHARS = 1_024, MAX_STEP_CHARS = 64;

/** Returns a text as it is compared: letter case and the length of white space do not count. */
export function comparable(text: string): string {
  return singleSpaced(text).toLowerCase();
}

/** Returns a text with one space in the place of each run of white space. */
export function singleSpaced(text: string): string {
  return text.replace(/\s+/g, " ");
}

/**
 * Returns the texts of a part in which a search looks: the decoded strings of JSON texts, and the
 * pieces of a stream joined, so that neither an escape nor the end of an event hides a word.
 */
export function searchedTexts(body: StoredBody, part: SearchedPart): string[] {
  const { request, response } = body;
  const isTools = part === "tools";
  return [
    ...part !== "response" && request?.body ? textsIn(request.body, isTools) : [],
    ...part !== "request" && response !== undefined ? responseTexts(response, isTools) : [],
  ];
}

function responseTexts(response: NonNullable<StoredBody["response"]>, isTools: boolean): string[] {
  if (response.body !== null) return textsIn(response.body, isTools);
  const channels = new Map<string, string[]>();
  const texts: Texts = { found: [], channels, isTools };
  for (const event of responseObjects(response)) collect(event, "", "", texts);
  return [...texts.found, ...channels.values().map((pieces) => pieces.join(""))]
    .flatMap(withInner);
}

/** Returns the strings of a JSON text; the text itself if it is none. */
function textsIn(text: string, isTools: boolean): string[] {
  const value = parseJson(text);
  if (!isObject(value)) return isTools ? [] : [text];
  const texts: Texts = { found: [], channels: null, isTools };
  collect(value, "", "", texts);
  return texts.found.flatMap(withInner);
}

/** Returns a text with the strings in it if it is a JSON text, such as the arguments of a tool. */
function withInner(text: string): string[] {
  const value = text.startsWith("{") || text.startsWith("[") ? parseJson(text) : undefined;
  if (!isObject(value) && !Array.isArray(value)) return [text];
  const texts: Texts = { found: [text], channels: null, isTools: false };
  collect(value, "", "", texts);
  return texts.found;
}

/** Texts collected of a value. */
interface Texts {
  readonly found: string[];
  /** Pieces of a stream by their channel; null outside streams. */
  readonly channels: Map<string, string[]> | null;
  /** True if only the texts of tools are wanted. */
  readonly isTools: boolean;
}

/** Types of items, blocks and events that are a call of a tool or its result. */
const TOOL_TYPE =
  /(?:^|_)(?:call|call_output|tool_use|tool_result)$|_call_(?:arguments|input)\.|^input_json_delta$/;

/** True for the call of a tool, or its result. */
function isTool({ type, role }: JsonObject): boolean {
  return role === "tool" || role === "function" || typeof type === "string" && TOOL_TYPE.test(type);
}

/** Places of pieces in events. */
const PIECE_PATH = /(?:^|\.)delta(?:\.|$)|^\.choices\.text$|^\.content_block\.(?:text|thinking)$/;

/**
 * Collects the strings of a value. Pieces of a stream go to the channel of their path and indexes.
 */
function collect(
  value: JsonValue | undefined,
  path: string,
  place: string,
  texts: Texts,
  depth = 0,
): void {
  if (depth > MAX_DEPTH_COUNT) return;
  const { found, channels, isTools } = texts;
  if (typeof value === "string") {
    if (isTools) return;
    const isLong = path.length + place.length > MAX_PLACE_CHARS;
    if (channels === null || isLong || !PIECE_PATH.test(path)) {
      found.push(value);
      return;
    }
    // A block may begin with the first piece of its text.
    const key = `${path.replace(".content_block", ".delta")} ${place}`;
    const pieces = channels.get(key);
    if (pieces === undefined) channels.set(key, [value]);
    else pieces.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, path, place, texts, depth + 1);
  } else if (isObject(value)) {
    const inner = channels === null ? place : place + indexesOf(value);
    const within = isTools && isTool(value) ? { ...texts, isTools: false } : texts;
    for (const [name, member] of Object.entries(value)) {
      const isCalls = isTools && (name === "tool_calls" || name === "function_call");
      const wanted = isCalls ? { ...texts, isTools: false } : within;
      const step = channels === null ? name : textBeginning(name, MAX_STEP_CHARS);
      collect(member, `${path}.${step}`, inner, wanted, depth + 1);
    }
  }
}

function indexesOf(value: JsonObject): string {
  return INDEXES.flatMap((name) =>
    value[name] === undefined ? [] : [`${name}=${textBeginning(`${value[name]}`, MAX_STEP_CHARS)} `]
  )
    .join("");
}
