import { assert, assertEquals } from "../../support/assert.ts";
import { isRefusal } from "../../../src/core/failure/failure.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { compat } from "../../../src/wires/compat/compat.ts";
import { decodeEmbeddings, encodeEmbeddings } from "../../../src/wires/compat/embeddings.ts";
import type { Target } from "../../../src/wires/wire.ts";
import { providerOf, targetAt } from "../../support/translated.ts";

function target(isBase64: boolean): Target {
  const provider = providerOf(compat, { capabilities: { embeddings_base64: isBase64 } });
  return targetAt(provider, compat, 'm"');
}

function encode(text: string, isBase64 = false): Result<string | null> {
  const document = parseDocument(text);
  if (!document.ok) return document;
  const request = encodeEmbeddings(document.value, target(isBase64));
  return request.ok ? { ok: true, value: request.value.payload?.text() ?? null } : request;
}

function refusalOf(result: Result<unknown>): unknown {
  assert(!result.ok && isRefusal(result.failure));
  return [result.failure.kind, result.failure.at];
}

Deno.test("an embeddings request is the client's text with only the model replaced", () => {
  const rest = ' "input" : [[1, 2.0]], "dimensions":3, "user":"u", "encoding_format" : "float" }';
  assertEquals(encode(`{ "model" : "p/m" ,${rest}`), {
    ok: true,
    value: `{ "model" : "m\\"" ,${rest}`,
  });
  assertEquals(encode(' {"input":"a"}'), { ok: true, value: ' {"model":"m\\"","input":"a"}' });
});

Deno.test("an unknown field of an embeddings request is refused by name", () => {
  assertEquals(refusalOf(encode('{"input":"a","truncate":true}')), [
    "unsupported_feature",
    "truncate",
  ]);
});

Deno.test("base64 encoding is refused unless the provider declares the capability", () => {
  const text = '{"model":"m\\"","input":"a","encoding_format":"base64"}';
  assertEquals(refusalOf(encode(text)), ["unsupported_feature", "encoding_format"]);
  assertEquals(encode(text, true), { ok: true, value: text });
  const other = '{"input":"a","encoding_format":"int8"}';
  assertEquals(refusalOf(encode(other, true)), ["invalid_value", "encoding_format"]);
});

Deno.test("a response with an embedding for every input is returned unchanged", () => {
  const text = '{"object":"list", "data":[{"embedding":[1.0]}],"more":1}\n';
  assertEquals(decodeEmbeddings(text, "m", 1), { ok: true, value: text });
  for (
    const bad of ["", "[]", "{}", '{"data":{}}', '{"data":[', '{"data":[]}', '{"data":[{},{}]}']
  ) {
    const result = decodeEmbeddings(bad, "m", 1);
    assertEquals(result.ok ? null : result.failure.kind, "invalid_upstream_response");
  }
});
