import type { JsonDocument } from "../../../src/core/json.ts";
import { readDocument } from "../../../src/formats/document.ts";
import { utf8Bytes } from "../../../src/formats/utf8.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { provider } from "./asked.ts";

function requestOf(document: JsonDocument, stream = false, setting?: string) {
  const chat = { document, stream, includeUsage: stream };
  const account = provider(...setting === undefined ? [] : [setting]);
  const request = compat.encode(chat, { provider: account, model: "m", wire: compat });
  assert(request.ok);
  return request.value;
}

function documentOf(text: string, bytes?: Uint8Array<ArrayBuffer>): JsonDocument {
  const document = readDocument(text, bytes);
  assert(document.ok);
  return document.value;
}

Deno.test("a request that need not change goes out as the bytes that came in", () => {
  const text = '{"model":"m","messages":[],"user":"é"}';
  const bytes = utf8Bytes(text);
  const request = requestOf(documentOf(text, bytes));
  assert(request.bytes?.() === bytes);
  assertEquals(request.body?.(), text);
});

Deno.test("bytes that are out of date are not sent", () => {
  const other = '{"model":"x","messages":[]}';
  assertEquals(requestOf(documentOf(other, utf8Bytes(other))).bytes?.(), null);
  const same = '{"model":"m","messages":[]}';
  assertEquals(requestOf(documentOf(same)).bytes?.(), null);
  const set = requestOf(documentOf(same, utf8Bytes(same)), false, "temperature: 0.5");
  assertEquals(set.bytes?.(), null);
  assertEquals(set.body?.(), '{"temperature":0.5,"model":"m","messages":[]}');
});
