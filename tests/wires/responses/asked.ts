import type { StreamEvent } from "../../../src/core/events.ts";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { type Result, success } from "../../../src/core/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import { responses } from "../../../src/wires/responses/responses.ts";
import type { IdSource } from "../../../src/wires/wire.ts";
import { assert } from "../../support/assert.ts";
import { encodeAs, providerOf, valueOf, type Written } from "../../support/translated.ts";
import { decodeSse } from "../decoded.ts";

/** Ids are of no account here; the clock stands at 1,700,000,000. */
export const mint: IdSource = { uuid: () => "id", unix: () => 1_700_000_000 };

/** The text that goes out for the text of a request. */
export function encodeText(text: string, written: Written = {}): Result<string> {
  return encodeAs("POST /responses", text, providerOf(compat, written), "m", responses);
}

/** What goes out for a whole request. */
export function encodeRequest(request: Written, written: Written = {}): Result<JsonObject> {
  const text = encodeText(JSON.stringify({ model: "p/m", ...request }), written);
  if (!text.ok) return text;
  const body = parseJson(text.value);
  assert(isObject(body));
  return success(body);
}

/** What goes out for fields beside a message "Hi". */
export function encodeFields(fields: Written, written: Written = {}): Result<JsonObject> {
  return encodeRequest({ messages: [{ role: "user", content: "Hi" }], ...fields }, written);
}

/** The members that fields add to the plainest request. */
export function added(fields: Written, written: Written = {}): JsonObject {
  const { model: _model, input: _input, store, ...others } = valueOf(encodeFields(fields, written));
  assert(store === false);
  return others;
}

/** The `input` that goes out for the messages of a request. */
export function encodeMessages(list: readonly unknown[]): Result<unknown> {
  const body = encodeRequest({ messages: list });
  return body.ok ? success(body.value.input) : body;
}

/** The events of a stream text that arrives in pieces of at most `size` characters. */
export function decodeStream(text: string, size = text.length): Result<readonly StreamEvent[]> {
  return decodeSse(responses.decoder(mint), text, size);
}

/** Events of the Responses API as the text of a stream, numbered unless they are so already. */
export function streamOf(events: readonly JsonObject[]): string {
  return events.map((event, index) => {
    const data = JSON.stringify({ sequence_number: index, ...event });
    return `event: ${event.type}\ndata: ${data}\n\n`;
  }).join("");
}

/** The events of a whole response text. */
export function decodeText(text: string): Result<readonly StreamEvent[]> {
  return responses.decode(valueOf(parseDocument(text)), mint);
}
