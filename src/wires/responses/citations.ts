import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import type { Citation } from "../../prompt/prompt.ts";

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
    const text = findText(texts, citation.start);
    if (text === null) return null;
    const { url, title, start, end } = citation;
    text.annotations.push({
      type: "url_citation",
      url,
      title,
      start_index: start - text.from,
      end_index: end - text.from,
    });
  }
  return texts.length === 0 ? null : placed;
}

/** A text part of a message: the response characters from `from` to `to`, and its citations. */
interface PlacedText {
  readonly from: number;
  readonly to: number;
  readonly annotations: JsonObject[];
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
