import { isObject, type JsonObject, type JsonValue, parseJson } from "../core/json/json.ts";
import { hashText } from "./hash.ts";

/** The result of a tool call as a request carries it. */
export interface ToolResult {
  /** The ID of the call that it answers. */
  readonly id: JsonValue;
  readonly text: string;
}

/** Returns the texts of tool results in the order of the calls that they answer. */
export function inOrderOfCalls(
  callIds: readonly JsonValue[],
  results: readonly ToolResult[],
): readonly string[] {
  const position = new Map(callIds.map((id, at) => [id, at]));
  const placeOf = ({ id }: ToolResult) => position.get(id) ?? callIds.length;
  return results.toSorted((one, other) => placeOf(one) - placeOf(other)).map(({ text }) => text);
}

/** Returns the line of a transcript for what a role said. */
export function spokenLine(role: string, text: string): string {
  return `${role}: ${text}`;
}

/** Returns the line of a transcript for a tool call; `input` may be an object or its JSON. */
export function callLine(name: JsonValue | undefined, input: JsonValue | undefined): string {
  const value = typeof input === "string" ? parseJson(input) : input;
  return `assistant calls ${name} ${JSON.stringify(value ?? null)}`;
}

/** Returns the line of a transcript for the result of the tool called `name`. */
export function resultLine(name: JsonValue | undefined, text: string): string {
  return `${name} returns ${text}`;
}

/** Returns an image as a transcript shows it: media type, number of bytes and their hash. */
export function imageText(mediaType: JsonValue | undefined, base64: JsonValue | undefined): string {
  const bytes = decodeBase64(typeof base64 === "string" ? base64 : "");
  return bytes === null
    ? "[broken image]"
    : `[${mediaType}, ${bytes.length} bytes, ${hashText(bytes).toString(16)}]`;
}

/**
 * Returns the image of a `data:` URL as a transcript shows it; other URLs are shown as they are.
 */
export function imageUrlText(url: JsonValue | undefined): string {
  const [, mediaType, base64] = /^data:([^;,]+);base64,(.*)$/s.exec(String(url)) ?? [];
  return base64 === undefined ? `[image at ${url}]` : imageText(mediaType, base64);
}

/** Returns the media type that the first bytes of a base64 text have. */
export function sniffedType(base64: string): string {
  if (base64.startsWith("iVBORw0KGgo")) return "image/png";
  if (base64.startsWith("/9j/")) return "image/jpeg";
  return base64.startsWith("R0lGOD") ? "image/gif" : "application/octet-stream";
}

/** Returns the names of calls by their IDs, read from the calls of a request in its protocol. */
export function namesById(
  calls: readonly JsonObject[],
  key: string,
): ReadonlyMap<JsonValue, string> {
  return new Map(calls.map((call) => {
    const inner = call.function ?? call.custom;
    const called = isObject(inner) ? inner : call;
    return [call[key] ?? null, String(called.name)];
  }));
}

function decodeBase64(text: string): string | null {
  try {
    return atob(text);
  } catch {
    return null;
  }
}
