import { assertEquals } from "../../support/assert.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { decodeEmbeddings, encodeEmbeddings } from "../../../src/wires/local/embeddings.ts";
import type { Result } from "../../../src/core/failure/result.ts";
import type { UpstreamRequest } from "../../../src/wires/wire.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { localTarget } from "./target.ts";

function encode(
  fields: Record<string, unknown>,
  written: Record<string, unknown> = {},
): Result<UpstreamRequest> {
  return encodeEmbeddings(valueOf(parseDocument(JSON.stringify(fields))), localTarget(written));
}

Deno.test("text and lists of text are sent in one request that forbids truncation", () => {
  for (const input of ["a", ["a"], ["a", "b", " "]]) {
    const fields = { model: "p/m", input, encoding_format: "float", dimensions: null, user: null };
    const { payload, ...request } = valueOf(encode(fields));
    assertEquals(request, { method: "POST", path: "/api/embed" });
    assertEquals(payload?.text(), JSON.stringify({ model: "m", input, truncate: false }));
  }
});

Deno.test("runtime settings apply to embeddings, except truncation", () => {
  const extra = { num_ctx: "512", keep_alive: "5m", truncate: "true" };
  assertEquals(
    valueOf(encode({ input: "a" }, { extra })).payload?.text(),
    '{"model":"m","input":"a","options":{"num_ctx":512},"keep_alive":"5m","truncate":false}',
  );
});

Deno.test("fields that the runtime cannot honour are refused by name", () => {
  assertFailed(encode({}), "missing_required_parameter", "input");
  for (const input of ["", [], [""], ["a", ""]]) {
    assertFailed(encode({ input }), "invalid_value", "input");
  }
  for (const input of [[1, 2], [[1], [2]]]) {
    assertFailed(encode({ input }), "unsupported_feature", "input");
  }
  for (const input of [1, {}, [null], ["a", {}]]) {
    assertFailed(encode({ input }), "invalid_type", "input");
  }
  assertFailed(encode({ input: "a", other: null }), "unsupported_feature", "other");
  const more = { encoding_format: "base64", dimensions: 3, user: "u", other: 1, options: {} };
  for (const [key, value] of Object.entries(more)) {
    assertFailed(encode({ input: "a", [key]: value }), "unsupported_feature", key);
  }
});

Deno.test("vectors keep their text and their order", () => {
  const text = '{"model":"x","embeddings": [ [0.60,-0, 1e-7] ,[0.12345678901234567890]],' +
    '"total_duration":1,"prompt_eval_count":3}';
  assertEquals(
    valueOf(decodeEmbeddings(text, 'm"', 2)),
    '{"object":"list","model":"m\\"","data":[' +
      '{"object":"embedding","index":0,"embedding":[0.60,-0, 1e-7]},' +
      '{"object":"embedding","index":1,"embedding":[0.12345678901234567890]}],' +
      '"usage":{"prompt_tokens":3,"total_tokens":3}}',
  );
});

Deno.test("a missing token count is zero", () => {
  assertEquals(
    valueOf(decodeEmbeddings('{"embeddings":[[1]]}', "m", 1)),
    '{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[1]}],' +
      '"usage":{"prompt_tokens":0,"total_tokens":0}}',
  );
});

Deno.test("embeddings that do not match the input are a failure", () => {
  const bad = [
    "",
    "[]",
    "{}",
    '{"error":"no"}',
    '{"embeddings":null}',
    '{"embeddings":[]}',
    '{"embeddings":[[1],[2]]}',
    '{"embeddings":[[]]}',
    '{"embeddings":["[1]"]}',
    '{"embeddings":[[1,"2"]]}',
    '{"embeddings":[[1,null]]}',
    '{"embeddings":[[[1]]]}',
    '{"embeddings":[[1e999]]}',
  ];
  for (const text of bad) assertFailed(decodeEmbeddings(text, "m", 1), "invalid_upstream_response");
});

Deno.test("a count of the runtime that is invalid is left out, and one that is absent is zero", () => {
  const usageWith = (count: unknown) => {
    const text = JSON.stringify({ embeddings: [[0.5]], prompt_eval_count: count });
    return JSON.parse(valueOf(decodeEmbeddings(text, "m", 1))).usage;
  };
  for (const count of [5_000_000_000, -1, "5"]) assertEquals(usageWith(count), undefined);
  for (const count of [null, undefined, 0]) {
    assertEquals(usageWith(count), { prompt_tokens: 0, total_tokens: 0 });
  }
});
