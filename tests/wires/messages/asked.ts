import type { StreamEvent } from "../../../src/core/events.ts";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { type Result, success } from "../../../src/core/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { messages } from "../../../src/wires/messages/messages.ts";
import type { IdSource, Provider } from "../../../src/wires/wire.ts";
import { assert } from "../../support/assert.ts";
import { encodeAs, providerOf, valueOf, type Written } from "../../support/translated.ts";
import { decodeSse } from "../decoded.ts";

/** A provider of type messages. */
export function provider(written: Written = {}): Provider {
  return providerOf(messages, written);
}

/** Ids are of no account here; the clock stands at 1,700,000,000. */
export const mint: IdSource = { uuid: () => "id", unix: () => 1_700_000_000 };

/** The text that goes out for the text of a request. */
export function encodeText(text: string, written: Written = {}, model = "m"): Result<string> {
  return encodeAs("POST /v1/messages", text, provider(written), model);
}

/** What goes out for fields beside a message "Hi". */
export function encodeFields(fields: Written, written: Written = {}): Result<JsonObject> {
  return encodeRequest({ messages: [{ role: "user", content: "Hi" }], ...fields }, written);
}

/** What goes out for a whole request. */
export function encodeRequest(request: Written, written: Written = {}): Result<JsonObject> {
  const text = encodeText(JSON.stringify({ model: "p/m", ...request }), written);
  if (!text.ok) return text;
  const body = parseJson(text.value);
  assert(isObject(body));
  return success(body);
}

/** `system` and `messages` that go out for the messages of a request. */
export function encodeMessages(list: readonly unknown[]): Result<JsonObject> {
  const body = encodeRequest({ messages: list });
  if (!body.ok) return body;
  const { system, messages: sent = null } = body.value;
  return success(system === undefined ? { messages: sent } : { system, messages: sent });
}

/** The events of a stream text that arrives in pieces of at most `size` characters. */
export function decodeStream(text: string, size = text.length): Result<readonly StreamEvent[]> {
  return decodeSse(messages.decoder(mint), text, size);
}

/** Events of the Messages API as the text of a stream. */
export function streamOf(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** The events of a whole answer text. */
export function decodeText(text: string): Result<readonly StreamEvent[]> {
  return messages.decode(valueOf(parseDocument(text)), mint);
}
