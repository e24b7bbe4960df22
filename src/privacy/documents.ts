import { isObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { type JsonPath, valueAt } from "./json_strings.ts";

/** Steps to the text of a document in a message or in the result of a tool. */
const MAX_STEP_COUNT = 8;

/**
 * Returns the document of a request whose plain text is at a path; null for any other string. Only
 * citations of plain texts have positions in them.
 */
export function documentAt(value: JsonObject, path: JsonPath): JsonObject | null {
  if (path.length > MAX_STEP_COUNT) return null;
  if (path.at(-1) !== "data" || path.at(-2) !== "source") return null;
  const block = valueAt(value, path.slice(0, -2));
  if (!isDocument(block) || !isObject(block.source)) return null;
  return block.source.type === "text" ? block : null;
}

/** Returns the documents of a request in their order, by which citations name them. */
export function documentsIn({ messages }: JsonObject): readonly JsonObject[] {
  return contentsOf(messages).flatMap((block) =>
    isDocument(block) ? [block] : contentOf(block).filter(isDocument)
  );
}

function contentsOf(messages: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(messages) ? messages.flatMap(contentOf) : [];
}

function contentOf(holder: JsonValue): readonly JsonValue[] {
  return isObject(holder) && Array.isArray(holder.content) ? holder.content : [];
}

function isDocument(block: JsonValue | undefined): block is JsonObject {
  return isObject(block) && block.type === "document";
}
