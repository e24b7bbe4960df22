import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { COMPLETE_TEXT, streamText } from "../payloads.ts";

/**
 * Returns the error in the response of a peer; null if it says what the upstream said, whole or as
 * the stream with `records` text records. A peer may write it in its own form: another order of
 * members, a new ID, further members.
 */
export function findPeerError(body: string, records: number | null): string | null {
  if (records === null) return findCompletionError(body);
  const isStream = /^(?:data|event|id|:)/.test(body);
  return isStream
    ? findStreamError(body, streamText(records))
    : `the response is no stream: ${body.slice(0, 200)}`;
}

function findCompletionError(body: string): string | null {
  const completion = parseJson(body);
  const choice = isObject(completion) ? firstOf(completion.choices) : null;
  if (choice === null) return `the response is no completion: ${body.slice(0, 200)}`;
  if (choice.finish_reason !== "stop") return "the finish_reason is not stop";
  const { message } = choice;
  return isObject(message) && message.content === COMPLETE_TEXT
    ? null
    : "the text differs from the upstream's";
}

function findStreamError(body: string, whole: string): string | null {
  const records = body.split(/^data: ?/m).slice(1).map((text) => text.trimEnd());
  const parsed = records.filter((text) => !text.startsWith("[DONE]")).map(parseJson);
  const objects = parsed.filter(isObject);
  const isResponse = objects.some(({ type }) => type === "response.completed");
  const isWhole = isResponse || records.at(-1)?.startsWith("[DONE]") === true;
  if (!isWhole) return "the stream does not end with [DONE] or response.completed";
  if (objects.length < parsed.length) return "a record of the stream is no JSON object";
  const isStopped = isResponse ||
    objects.some(({ choices }) => firstOf(choices)?.finish_reason === "stop");
  if (!isStopped) return "no record of the stream has the finish_reason stop";
  const text = objects.map(isResponse ? eventText : chunkText).join("");
  return text === whole ? null : "the text of the stream differs from the upstream's";
}

function chunkText({ choices }: JsonObject): string {
  const delta = firstOf(choices)?.delta;
  return isObject(delta) && typeof delta.content === "string" ? delta.content : "";
}

function eventText({ type, delta }: JsonObject): string {
  return type === "response.output_text.delta" && typeof delta === "string" ? delta : "";
}

function firstOf(list: unknown): JsonObject | null {
  const [first] = Array.isArray(list) ? list : [];
  return isObject(first) ? first : null;
}
