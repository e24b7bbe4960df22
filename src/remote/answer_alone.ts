import { isRefusal } from "../core/failure.ts";
import { isObject, type JsonObject, type JsonValue, parseExact } from "../core/json/json.ts";
import type { CapturedCall } from "./capture.ts";

/** Members that say what was answered. Any other may repeat the request: instructions, tools, metadata. */
const ANSWERED: ReadonlySet<string> = new Set([
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
 * What a call was answered, as text without what of it repeats the request: a Response holds the
 * instructions, tools and metadata that it was made with (OpenAI API, Responses). Null where there
 * is nothing else. Errors are kept whatever was called.
 */
export function stripRequestEcho(
  { response, report }: Pick<CapturedCall, "response" | "report">,
): string | null {
  const { endpoint, status, failure, brokeOff } = report;
  if (response === null) return null;
  if (!endpoint.sharesAnswer && status < 400) return null;
  const text = typeof response === "string" ? response : new TextDecoder().decode(response);
  const isOwnError = failure !== null && !brokeOff &&
    (isRefusal(failure) || failure.upstream === null);
  // An error that the gateway itself wrote holds nothing else.
  if (isOwnError) return text;
  return /^\s*\{/.test(text) ? objectAlone(parseExact(text)) : streamAlone(text);
}

function objectAlone(value: JsonValue | undefined): string | null {
  return isObject(value) ? JSON.stringify(answered(value)) : null;
}

/** A line that cannot be read on its own, such as the first of a value on several, is left out. */
function streamAlone(text: string): string {
  const lines = text.split(/\r\n|\r|\n/).flatMap((line) => {
    if (line === "" || line.startsWith("event:")) return [line];
    if (!line.startsWith("data:")) return [];
    const data = line.slice("data:".length).trim();
    if (data === "[DONE]") return [line];
    const event = parseExact(data);
    return isObject(event) ? [`data: ${JSON.stringify(eventAlone(event))}`] : [];
  });
  return lines.join("\n");
}

/** The events of a Response hold parts of the answer, and some of them the whole resource. */
function eventAlone(event: JsonObject): JsonObject {
  const { type, response } = event;
  if (typeof type !== "string" || !/^(?:response\.|error$)/.test(type)) return answered(event);
  return isObject(response) ? { ...event, response: answered(response) } : event;
}

function answered(whole: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(whole).filter(([name]) => ANSWERED.has(name)));
}
