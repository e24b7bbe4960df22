import { isRefusal } from "../core/failure/failure.ts";
import { isObject, type JsonObject, type JsonValue, parseExact } from "../core/json/json.ts";
import { areTooLarge } from "../formats/parse_limits.ts";
import type { CapturedCall } from "./capture.ts";

/** Members of a response that never repeat the request, unlike instructions, tools or metadata. */
const RESPONSE_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "created_at",
  "completed_at",
  "status",
  "error",
  "incomplete_details",
  "model",
  "output",
  "choices",
  "data",
  "usage",
  "service_tier",
  "system_fingerprint",
]);

/**
 * Returns the response of a call as text, without the members that repeat the request: a Response
 * contains the instructions, tools and metadata of its request (OpenAI API, Responses). Null if
 * nothing else remains. Error responses are returned for every endpoint.
 */
export function stripRequestEcho(
  { response, report }: Pick<CapturedCall, "response" | "report">,
): string | null {
  const { endpoint, status, failure, brokeOff, ms } = report;
  if (response === null) return null;
  if (!endpoint.sharesAnswer && status < 400) return null;
  const text = typeof response === "string" ? response : new TextDecoder().decode(response);
  // A stream that began early may hold a Response.
  const isWhole = !brokeOff && ms.earlyHead === null;
  const isOwnError = failure !== null && isWhole &&
    (isRefusal(failure) || failure.upstream === null);
  // An error written by the gateway contains nothing of the request.
  if (isOwnError) return text;
  if (!/^\s*\{/.test(text)) return stripStream(text);
  return areTooLarge([text]) ? null : stripObject(parseExact(text));
}

function stripObject(value: JsonValue | undefined): string | null {
  return isObject(value) ? JSON.stringify(pickResponseFields(value)) : null;
}

/**
 * Returns the stream text without echoes. A data line that is not a JSON object by itself is
 * omitted.
 */
function stripStream(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).flatMap((line) => {
    if (line === "" || line.startsWith("event:")) return [line];
    if (!line.startsWith("data:")) return [];
    const data = line.slice("data:".length).trim();
    if (data === "[DONE]") return [line];
    const event = parseExact(data);
    return isObject(event) ? [`data: ${JSON.stringify(stripEvent(event))}`] : [];
  });
  return lines.join("\n");
}

/** Returns an event without echoes: some events of a Response contain the whole resource. */
function stripEvent(event: JsonObject): JsonObject {
  const { type, response } = event;
  if (typeof type !== "string" || !/^(?:response\.|error$)/.test(type)) {
    return pickResponseFields(event);
  }
  return isObject(response) ? { ...event, response: pickResponseFields(response) } : event;
}

function pickResponseFields(whole: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => RESPONSE_FIELDS.has(name)));
}
