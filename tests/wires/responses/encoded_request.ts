import type { StreamEvent } from "../../../src/core/stream/events.ts";
import { isObject, type JsonObject, parseJson } from "../../../src/core/json/json.ts";
import { type Result, success } from "../../../src/core/failure/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import { responses } from "../../../src/wires/responses/responses.ts";
import type { IdSource } from "../../../src/wires/wire.ts";
import { assert } from "../../support/assert.ts";
import { encodeAs, providerOf, valueOf, type Written } from "../../support/translated.ts";
import { decodeSse } from "../decoded.ts";

/** A constant ID and a fixed clock at 1,700,000,000. */
export const idSource: IdSource = { uuid: () => "id", unix: () => 1_700_000_000 };

/** Returns the upstream request text for a client request text. */
export function encodeText(text: string, written: Written = {}): Result<string> {
  return encodeAs("POST /responses", text, providerOf(compat, written), "m", responses);
}

/** Returns the upstream request for a complete client request. */
export function encodeRequest(request: Written, written: Written = {}): Result<JsonObject> {
  const text = encodeText(JSON.stringify({ model: "p/m", ...request }), written);
  if (!text.ok) return text;
  const body = parseJson(text.value);
  assert(isObject(body));
  return success(body);
}

/** Returns the upstream request for fields next to a message "Hi". */
export function encodeFields(fields: Written, written: Written = {}): Result<JsonObject> {
  return encodeRequest({ messages: [{ role: "user", content: "Hi" }], ...fields }, written);
}

/** Returns the fields that a client request adds to the plain upstream request. */
export function added(fields: Written, written: Written = {}): JsonObject {
  const { model: _model, input: _input, store, ...others } = valueOf(encodeFields(fields, written));
  assert(store === false);
  return others;
}

/** Returns `input` of the upstream request for the messages of a client request. */
export function encodeMessages(list: readonly unknown[]): Result<unknown> {
  const body = encodeRequest({ messages: list });
  return body.ok ? success(body.value.input) : body;
}

/** Returns the events of a stream text that arrives in parts of at most `size` characters. */
export function decodeStream(text: string, size = text.length): Result<readonly StreamEvent[]> {
  return decodeSse(responses.newDecoder(idSource), text, size);
}

/** Returns the stream text of Responses events, with sequence numbers if they have none. */
export function streamOf(events: readonly JsonObject[]): string {
  return events.map((event, index) => {
    const data = JSON.stringify({ sequence_number: index, ...event });
    return `event: ${event.type}\ndata: ${data}\n\n`;
  }).join("");
}

/** Returns the events of a complete response text. */
export function decodeText(text: string): Result<readonly StreamEvent[]> {
  return responses.decode(valueOf(parseDocument(text)), idSource);
}
