import type { JsonDocument } from "../../../src/core/json/json.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { utf8Bytes, utf8Text } from "../../../src/formats/utf8.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import type { UpstreamRequest } from "../../../src/wires/wire.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { provider } from "./encoded_request.ts";
import { targetAt } from "../../support/translated.ts";

function requestOf(document: JsonDocument, stream = false, setting?: string) {
  const chat = { document, stream, includeUsage: stream };
  const account = provider(...setting === undefined ? [] : [setting]);
  const request = compat.encode(chat, targetAt(account));
  assert(request.ok);
  return request.value;
}

function documentOf(text: string, bytes?: Uint8Array<ArrayBuffer>): JsonDocument {
  const document = parseDocument(text, bytes);
  assert(document.ok);
  return document.value;
}

/** Returns the body of a request as bytes and as text. */
function bodyOf({ payload }: UpstreamRequest) {
  assert(payload !== null);
  const bytes = payload.bytes();
  assert(bytes instanceof Uint8Array);
  assertEquals(utf8Text(bytes), payload.text());
  return { bytes, text: payload.text() };
}

Deno.test("a request that needs no change is sent as the received bytes", () => {
  const text = '{"model":"m","messages":[],"user":"é"}';
  const bytes = utf8Bytes(text);
  const body = bodyOf(requestOf(documentOf(text, bytes)));
  assert(body.bytes === bytes);
  assertEquals(body.text, text);
});

Deno.test("received bytes of a changed request are not sent", () => {
  const other = '{"model":"x","messages":[]}';
  const same = '{"model":"m","messages":[]}';
  assertEquals(bodyOf(requestOf(documentOf(other, utf8Bytes(other)))).text, same);
  assertEquals(bodyOf(requestOf(documentOf(same))).text, same);
  const set = requestOf(documentOf(same, utf8Bytes(same)), false, "temperature: 0.5");
  assertEquals(bodyOf(set).text, '{"temperature":0.5,"model":"m","messages":[]}');
});
