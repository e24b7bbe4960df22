import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { eachOf } from "../chat_request/chat_tools.ts";
import {
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";

/** A web citation as Responses has it, except that it counts from the beginning of the answer. */
export interface Citation extends JsonObject {
  readonly start_index: number;
  readonly end_index: number;
}

const MEMBERS: readonly string[] = ["url", "title", "start_index", "end_index"];

/** The `annotations` of an assistant's message; a Refusal names what is no web citation. */
export function citationsOf(given: Optional, path: string): Result<readonly Citation[]> {
  return eachOf(given, path, citationOf);
}

function citationOf(annotation: JsonObject, path: string): Result<Citation> {
  if (annotation.type !== "url_citation") return unsupported(`${path}.type`);
  const unknown = unknownMember(annotation, ["type", "url_citation"], path);
  if (unknown !== null) return unknown;
  const cited = annotation.url_citation;
  const at = `${path}.url_citation`;
  if (!isObject(cited)) return wrongType(at, "an object");
  const other = unknownMember(cited, MEMBERS, at);
  if (other !== null) return other;
  const { url } = cited;
  const title = cited.title ?? "";
  if (typeof url !== "string") return missing(`${at}.url`);
  if (typeof title !== "string") return wrongType(`${at}.title`, "a string");
  const start = indexOf(cited.start_index, `${at}.start_index`);
  if (!start.ok) return start;
  const end = indexOf(cited.end_index, `${at}.end_index`);
  if (!end.ok) return end;
  return success({
    type: "url_citation",
    url,
    title,
    start_index: start.value,
    end_index: end.value,
  });
}

function indexOf(given: Optional, path: string): Result<number> {
  const index = numberOf(given);
  if (index === null || !Number.isInteger(index)) return wrongType(path, "an integer");
  return index < 0 ? wrongValue(path, "at least 0") : success(index);
}

/**
 * Parts of a message, each text with the citations that begin in it, counted from its own beginning;
 * null when there is no text.
 */
export function citedParts(
  parts: readonly JsonObject[],
  citations: readonly Citation[],
): readonly JsonObject[] | null {
  const texts: PlacedText[] = [];
  let length = 0;
  const placed = parts.map((part) => {
    if (!isText(part)) return part;
    const text: PlacedText = { from: length, to: length + part.text.length, annotations: [] };
    texts.push(text);
    length = text.to;
    return { ...part, annotations: text.annotations };
  });
  for (const citation of citations) {
    const text = findText(texts, citation.start_index);
    if (text === null) return null;
    text.annotations.push({
      ...citation,
      start_index: citation.start_index - text.from,
      end_index: citation.end_index - text.from,
    });
  }
  return texts.length === 0 ? null : placed;
}

/** A text of a message: the characters of the answer from `from` up to `to`, and its citations. */
interface PlacedText {
  readonly from: number;
  readonly to: number;
  readonly annotations: Citation[];
}

/**
 * Returns the text that holds a character, by bisection; the last one for a character behind all
 * texts, and null when there are none.
 */
function findText(texts: readonly PlacedText[], at: number): PlacedText | null {
  let low = 0;
  let high = texts.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at < (texts[middle]?.to ?? 0)) high = middle;
    else low = middle + 1;
  }
  return texts[low] ?? null;
}

function isText(part: JsonObject): part is JsonObject & { readonly text: string } {
  return part.type === "output_text" && typeof part.text === "string";
}

/** A web citation as Chat nests it, counted from the beginning of the answer; null for other kinds, which have no place there. */
export function nestedCitation(given: JsonValue, start: number): JsonObject | null {
  if (!isObject(given) || given.type !== "url_citation" || typeof given.url !== "string") {
    return null;
  }
  const { url, title } = given;
  return {
    type: "url_citation",
    url_citation: {
      url,
      title: typeof title === "string" ? title : "",
      start_index: start + (numberOf(given.start_index) ?? 0),
      end_index: start + (numberOf(given.end_index) ?? 0),
    },
  };
}
