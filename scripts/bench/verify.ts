import { isObject, parseJson } from "../../src/core/json/json.ts";
import { COMPLETE_TEXT, completion, message, streamText } from "./payloads.ts";

const WHOLE: readonly string[] = [completion, message].map((body) =>
  new TextDecoder().decode(body)
);

/**
 * Returns the error in a response body; null if it is the complete response, or the complete stream
 * with `records` text records, that the upstream sent.
 */
export function findBodyError(body: string, records: number | null): string | null {
  return records === null ? findWholeError(body) : findStreamError(body, records);
}

function findWholeError(body: string): string | null {
  if (body.startsWith('{"id":"resp_')) return findResponseError(body);
  if (TRANSLATED.test(body)) return findCompletionError(body);
  return WHOLE.includes(body) ? null : `the response differs from the upstream's: ${body}`;
}

/** The beginning of a completion that a gateway has made of another response. */
const TRANSLATED = /^\{"id":"chatcmpl-(?!bench")/;

/** Returns the error in a completion with another ID than that of the upstream. */
function findCompletionError(body: string): string | null {
  const isComplete = body.includes(`"content":${JSON.stringify(COMPLETE_TEXT)}`) &&
    body.includes('"finish_reason":"stop"');
  return isComplete ? null : `the completion is not complete: ${body}`;
}

/** Returns the error in a response of the Responses API; null if it is complete. */
function findResponseError(body: string): string | null {
  const response = parseJson(body);
  const isComplete = isObject(response) && response.status === "completed" &&
    body.includes(JSON.stringify(COMPLETE_TEXT));
  return isComplete ? null : `the response is not complete: ${body}`;
}

function findStreamError(body: string, count: number): string | null {
  if (body.startsWith("event: message_start\n")) {
    if (!body.includes("\nevent: message_stop\n")) return "the message is not complete";
    return compareText(body.matchAll(/"type":"text_delta","text":"([^"]*)"/g), count);
  }
  if (body.startsWith("event:")) {
    if (!body.includes("\nevent: response.completed\n")) return "the response is not completed";
    return compareText(body.matchAll(/"delta":"([^"]*)"/g), count);
  }
  if (!body.startsWith("data:")) return `the response is no stream: ${body.slice(0, 200)}`;
  const records = body.trimEnd().split("\n\n").map((record) => record.slice("data: ".length));
  if (records.at(-1) !== "[DONE]") return "the stream does not end with [DONE]";
  const texts = records.slice(0, -1).map(parseChunkText);
  if (texts.includes(null)) return "a stream record is not a chunk";
  return compareText(
    texts.map((text) => ["", text ?? ""]).filter(([, text]) => text !== ""),
    count,
  );
}

/** Returns the error if the matched texts are not those of the upstream's `count` records. */
function compareText(matches: Iterable<readonly string[]>, count: number): string | null {
  const texts = [...matches].map(([, text = ""]) => text);
  if (texts.length !== count) return `the stream has ${texts.length} text records`;
  return texts.join("") === streamText(count)
    ? null
    : "the text of the stream differs from the upstream's";
}

/** Returns the text of a stream chunk, empty if it has none; null if the record is not a chunk. */
function parseChunkText(record: string): string | null {
  const chunk = parseJson(record);
  if (!isObject(chunk) || !Array.isArray(chunk.choices)) return null;
  const [choice] = chunk.choices;
  const delta = isObject(choice) ? choice.delta : undefined;
  return isObject(delta) && typeof delta.content === "string" ? delta.content : "";
}
