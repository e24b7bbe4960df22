import { parseJson } from "../../../src/core/json/json.ts";
import type { Answer, Records } from "./answer.ts";
import { readChat } from "./chat.ts";
import { readLocal } from "./local.ts";
import { readMessage, readMessagesStream } from "./messages.ts";
import { readResponse, readResponsesStream } from "./responses.ts";

/** A format of answers. `local` is only spoken by upstreams. */
export type Format = "chat" | "messages" | "responses" | "local";

/** Reads an answer, whole or streamed. It shares no code with the gateway's own readers. */
export function readAnswer(format: Format, type: string, body: string): Answer {
  const isStream = type.startsWith("text/event-stream");
  const records = isStream
    ? sseRecords(body)
    : format === "local"
    ? body.split("\n").filter((line) => line !== "").map((line) => parseJson(line))
    : [parseJson(body)];
  switch (format) {
    case "chat":
      return readChat(records, isStream ? body.trimEnd().endsWith("data: [DONE]") : true, isStream);
    case "messages":
      return isStream ? readMessagesStream(records) : readMessage(records[0]);
    case "responses":
      return isStream ? readResponsesStream(records) : readResponse(records[0]);
    case "local":
      return readLocal(records);
  }
}

/** Returns the JSON values of the records of an event stream, without its end marker. */
export function sseRecords(body: string): Records {
  return body.split("\n\n").flatMap((block) => {
    const data = block.split("\n").filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).replace(/^ /, "")).join("\n");
    return data === "" || data === "[DONE]" ? [] : [parseJson(data)];
  });
}
