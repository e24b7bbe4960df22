import {
  isObject,
  type JsonObject,
  type JsonValue,
  MAX_LEVELS,
  parseJson,
} from "../core/json/json.ts";
import { responseObjects } from "./events_of.ts";
import { newStreamTexts, type PiecePlace } from "./stream_texts.ts";
import type { StoredBody } from "./written_record.ts";

/** Parts of a record in which a text is searched; `tools`: what tools get and return, in both. */
export const SEARCHED_PARTS = ["request", "response", "tools"] as const;

/** A part of a record in which a text is searched. */
export type SearchedPart = (typeof SEARCHED_PARTS)[number];

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
  const stream = newStreamTexts<string>();
  const found: string[] = [];
  for (const event of responseObjects(response)) {
    const places = Map.groupBy(stream.placesIn(event), ({ object }) => object);
    collect(event, { found, places, isTools });
  }
  const joined = [...stream.all].map((pieces) => pieces.join("")).filter(Boolean);
  return [...found, ...joined].flatMap(withInner);
}

/** Returns the strings of a JSON text; the text itself if it is none. */
function textsIn(text: string, isTools: boolean): string[] {
  const value = parseJson(text);
  if (!isObject(value)) return isTools ? [] : [text];
  return collect(value, { found: [], isTools }).flatMap(withInner);
}

/** Returns a text with the strings in it if it is a JSON text, such as the arguments of a tool. */
function withInner(text: string): string[] {
  const value = text.startsWith("{") || text.startsWith("[") ? parseJson(text) : undefined;
  if (!isObject(value) && !Array.isArray(value)) return [text];
  return collect(value, { found: [text], isTools: false });
}

/** Texts collected of a value. */
interface Texts {
  readonly found: string[];
  /** Where the value has pieces of the texts of a stream, by their objects. */
  readonly places?: ReadonlyMap<JsonObject, readonly PiecePlace<string>[]>;
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

/**
 * Collects the strings of a value down to `MAX_LEVELS` levels, and returns those found. Pieces go
 * to the texts of their stream.
 */
function collect(value: JsonValue | undefined, texts: Texts, levels = 0): string[] {
  const { found, places, isTools } = texts;
  if (levels > MAX_LEVELS) return found;
  if (typeof value === "string") {
    if (!isTools) found.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) collect(item, texts, levels + 1);
  } else if (isObject(value)) {
    const within = isTools && isTool(value) ? { ...texts, isTools: false } : texts;
    const own = places?.get(value);
    for (const [name, member] of Object.entries(value)) {
      const isCalls = isTools && (name === "tool_calls" || name === "function_call");
      const wanted = isCalls ? { ...texts, isTools: false } : within;
      const piece = own?.find((one) => one.name === name);
      if (piece === undefined) collect(member, wanted, levels + 1);
      else if (!wanted.isTools) piece.pieces.push(String(member));
    }
  }
  return found;
}
