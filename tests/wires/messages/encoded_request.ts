import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { type Result, success } from "../../../src/core/failure/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { messages } from "../../../src/wires/messages/messages.ts";
import type { IdSource, Provider } from "../../../src/wires/wire.ts";
import { assert } from "../../support/assert.ts";
import { encodeAs, providerOf, valueOf, type Written } from "../../support/translated.ts";
import { decodeSse } from "../decoded.ts";

/** Returns a provider of type messages. */
export function provider(written: Written = {}): Provider {
  return providerOf(messages, written);
}

/** A constant ID and a fixed clock at 1,700,000,000. */
export const idSource: IdSource = { uuid: () => "id", unix: () => 1_700_000_000 };

/** Returns the upstream request text for a client request text. */
export function encodeText(text: string, written: Written = {}, model = "m"): Result<string> {
  return encodeAs("POST /v1/messages", text, provider(written), model);
}

/** Returns the upstream request for fields next to a message "Hi". */
export function encodeFields(fields: Written, written: Written = {}): Result<JsonObject> {
  return encodeRequest({ messages: [{ role: "user", content: "Hi" }], ...fields }, written);
}

/** Returns the upstream request for a complete client request. */
export function encodeRequest(request: Written, written: Written = {}): Result<JsonObject> {
  const text = encodeText(JSON.stringify({ model: "p/m", ...request }), written);
  if (!text.ok) return text;
  const body = parseJson(text.value);
  assert(isObject(body));
  return success(body);
}

/** Returns `system` and `messages` of the upstream request for the messages of a client request. */
export function encodeMessages(list: readonly unknown[]): Result<JsonObject> {
  const body = encodeRequest({ messages: list });
  if (!body.ok) return body;
  const { system, messages: sent = null } = body.value;
  return success(system === undefined ? { messages: sent } : { system, messages: sent });
}

/** Returns the events of a stream text that arrives in parts of at most `size` characters. */
export function decodeStream(text: string, size = text.length): Result<readonly StreamEvent[]> {
  return decodeSse(messages.newDecoder(idSource), text, size);
}

/** Returns the stream text of Messages events. */
export function streamOf(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** Returns the events of a complete response text. */
export function decodeText(text: string): Result<readonly StreamEvent[]> {
  return messages.decode(valueOf(parseDocument(text)), idSource);
}
