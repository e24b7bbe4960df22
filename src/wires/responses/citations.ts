import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { mapObjects } from "../chat_request/chat_tools.ts";
import {
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";

/** A web citation in the form of Responses, with offsets from the start of the whole response text. */
export interface Citation extends JsonObject {
  readonly start_index: number;
  readonly end_index: number;
}

const MEMBERS: readonly string[] = ["url", "title", "start_index", "end_index"];

/**
 * Returns the `annotations` of an assistant message. A Refusal names the first that is not a web
 * citation.
 */
export function parseCitations(given: Optional, path: string): Result<readonly Citation[]> {
  return mapObjects(given, path, parseCitation);
}

function parseCitation(annotation: JsonObject, path: string): Result<Citation> {
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
  const start = parseIndex(cited.start_index, `${at}.start_index`);
  if (!start.ok) return start;
  const end = parseIndex(cited.end_index, `${at}.end_index`);
  if (!end.ok) return end;
  return success({
    type: "url_citation",
    url,
    title,
    start_index: start.value,
    end_index: end.value,
  });
}

function parseIndex(given: Optional, path: string): Result<number> {
  const index = numberOf(given);
  if (index === null || !Number.isInteger(index)) return wrongType(path, "an integer");
  return index < 0 ? wrongValue(path, "at least 0") : success(index);
}

/**
 * Returns the parts of a message, each text with the citations that start in it and offsets from
 * its own start; null if there is no text.
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

/** A text part of a message: the response characters from `from` to `to`, and its citations. */
interface PlacedText {
  readonly from: number;
  readonly to: number;
  readonly annotations: Citation[];
}

/**
 * Returns the text part that contains a character, by bisection. A character after all parts
 * belongs to the last; null if there are no parts.
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

/**
 * Returns a web citation in the nested form of Chat, with offsets from the start of the response
 * text; null for other types, which Chat does not have.
 */
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
