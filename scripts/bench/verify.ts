import { isObject, parseJson } from "../../src/core/json/json.ts";
import {
  COMPLETE_TEXT,
  completion,
  message,
  SHORT_STREAM_RECORDS,
  STREAM_RECORDS,
} from "./payloads.ts";

const WHOLE: readonly string[] = [completion, message].map((body) =>
  new TextDecoder().decode(body)
);

/** Returns the error in a response body; null if it is a complete response or stream. */
export function findBodyError(body: string): string | null {
  if (body.startsWith("event:")) return findEventsError(body);
  if (body.startsWith('{"id":"resp_')) return findResponseError(body);
  if (!body.startsWith("data:")) {
    return WHOLE.includes(body) ? null : `the response differs from the upstream's: ${body}`;
  }
  const records = body.trimEnd().split("\n\n").map((record) => record.slice("data: ".length));
  if (records.at(-1) !== "[DONE]") return "the stream does not end with [DONE]";
  const texts = records.slice(0, -1).map(parseChunkText);
  if (texts.includes(null)) return "a stream record is not a chunk";
  const count = texts.filter((text) => text !== null && text !== "").length;
  return count === STREAM_RECORDS || count === SHORT_STREAM_RECORDS
    ? null
    : `the stream has ${count} text records`;
}

/** Returns the error in a response of the Responses API; null if it is complete. */
function findResponseError(body: string): string | null {
  const response = parseJson(body);
  const isComplete = isObject(response) && response.status === "completed" &&
    body.includes(JSON.stringify(COMPLETE_TEXT));
  return isComplete ? null : `the response is not complete: ${body}`;
}

/** Returns the error in the events of a response or message; null if the stream is complete. */
function findEventsError(body: string): string | null {
  if (body.startsWith("event: message_start\n")) {
    const count = body.split('"type":"text_delta"').length - 1;
    if (count !== STREAM_RECORDS) return `the message has ${count} text deltas`;
    return body.includes("\nevent: message_stop\n") ? null : "the message is not complete";
  }
  const count = body.split("event: response.output_text.delta\n").length - 1;
  if (count !== STREAM_RECORDS) return `the response has ${count} text deltas`;
  return body.includes("\nevent: response.completed\n") ? null : "the response is not completed";
}

/** Returns the text of a stream chunk, empty if it has none; null if the record is not a chunk. */
function parseChunkText(record: string): string | null {
  const chunk = parseJson(record);
  if (!isObject(chunk) || !Array.isArray(chunk.choices)) return null;
  const [choice] = chunk.choices;
  const delta = isObject(choice) ? choice.delta : undefined;
  return isObject(delta) && typeof delta.content === "string" ? delta.content : "";
}
