import fc from "fast-check";
import { parseJson } from "../../src/core/json/json.ts";
import { messageOf } from "../../src/core/failure/openai_error.ts";
import {
  emptyDocument,
  newDocument,
  parseDocument,
  parseRequest,
} from "../../src/formats/document.ts";
import { parseMembers } from "../../src/formats/edit.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { objectTexts } from "./json_texts.ts";

function refusalOf(text: string): string {
  const result = parseDocument(text);
  assert(!result.ok);
  assertEquals(result.failure.kind, "invalid_json");
  assert("at" in result.failure);
  assertEquals(result.failure.at, null);
  return messageOf(result.failure);
}

Deno.test("a request body is parsed with its text and its members", () => {
  fc.assert(fc.property(objectTexts, (text) => {
    const result = parseDocument(text);
    assert(result.ok);
    assertEquals<unknown>(result.value, {
      text,
      value: parseJson(text),
      members: parseMembers(text),
    });
  }));
});

Deno.test("a request body that is not a JSON object is refused", () => {
  for (const text of ["{", "{'a':1}", "NaN", '{"a":1} x', "[]", "null", "1", '"{}"', "\ufeff{}"]) {
    assertStringIncludes(refusalOf(text), "JSON object");
  }
});

Deno.test("the refusal of an empty request body says that a JSON object is expected", () => {
  for (const text of ["", " \n"]) {
    assertEquals(refusalOf(text), "The request body is empty; send a JSON object.");
  }
});

Deno.test("a repeated key is refused, also with different escapes", () => {
  assertStringIncludes(refusalOf('{"model":"a","x":1,"\\u006dodel":"secret"}'), '"model"');
  assert(!refusalOf('{"model":"a","model":"secret"}').includes("secret"));
});

Deno.test("the refusal of a long repeated key does not contain the key", () => {
  const key = "k".repeat(65);
  assert(!refusalOf(`{"${key}":1,"${key}":2}`).includes(key));
});

// Work that grew faster than the number of keys would take a minute here.
Deno.test("a key repeated after 100,000 others is found and named", () => {
  const keys = Array.from({ length: 100_000 }, (_, index) => `"k${index}":0`).join();
  assert(parseDocument(`{${keys}}`).ok);
  assertStringIncludes(refusalOf(`{${keys},"k99999":1}`), '"k99999"');
});

Deno.test("more members and elements than allowed are refused with the setting that allows more", () => {
  const text = `{"a":[${"1,".repeat(9)}1]}`;
  const hold = () => null;
  assert(parseRequest(text, { maxItems: 11, hold }).ok);
  const refused = parseRequest(text, { maxItems: 10, hold });
  assert(!refused.ok);
  assertEquals(refused.failure.kind, "request_too_large");
  assertStringIncludes(messageOf(refused.failure), "server.max_json_members");
});

Deno.test("keys may be repeated below the top level", () => {
  assert(parseDocument('{"a":{"b":1,"b":2}}').ok);
});

Deno.test("a value becomes the document of its JSON text", () => {
  const document = newDocument({ a: [1], b: undefined, c: "é" });
  assertEquals(document.text, '{"a":[1],"c":"é"}');
  assertEquals(document.members.map((member) => member.key), ["a", "c"]);
  assertEquals(emptyDocument, newDocument({}));
});
