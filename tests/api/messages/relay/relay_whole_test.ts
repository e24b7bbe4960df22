import { relayWhole } from "../../../../src/api/messages/relay/relay_whole.ts";
import { isRefusal } from "../../../../src/core/failure/failure.ts";
import type { HeaderFields } from "../../../../src/core/header_fields.ts";
import { utf8Bytes } from "../../../../src/formats/utf8.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";

function relay(body: string | Uint8Array<ArrayBuffer>, headers: HeaderFields = {}) {
  const bytes = typeof body === "string" ? utf8Bytes(body) : body;
  return relayWhole({ status: 200, headers: () => headers, body: bytes });
}

Deno.test("a message is passed on with its own bytes and headers", () => {
  const body = utf8Bytes('{ "type":"message", "n":1.0,"content":[]\r\n}');
  const { response } = valueOf(relay(body, { "content-type": "application/json; x", "a": "b" }));
  assert(response.body === body);
  assertEquals(response.headers, { "content-type": "application/json; x", "a": "b" });
  assertEquals(response.status, 200);
});

Deno.test("a message without a content type is sent as JSON, because clients parse nothing else", () => {
  const { response } = valueOf(relay('{"type":"message"}'));
  assertEquals(response.headers, { "content-type": "application/json" });
});

Deno.test("the prompt is the sum of the three input counts", () => {
  const usage = {
    input_tokens: 3,
    cache_read_input_tokens: 40,
    cache_creation_input_tokens: 500,
    output_tokens: 7,
    output_tokens_details: { thinking_tokens: 2 },
  };
  const { outcome } = valueOf(relay(JSON.stringify({ type: "message", usage })));
  assertEquals(outcome.usage, {
    input: 543,
    output: 7,
    total: 550,
    cached: 40,
    cacheWrite: 500,
    reasoning: 2,
  });
});

Deno.test("token counts that cannot be read are not counted, and the message is passed on", () => {
  for (const usage of [undefined, null, 1, {}, { input_tokens: 1.5, output_tokens: 1 }]) {
    const { outcome } = valueOf(relay(JSON.stringify({ type: "message", usage })));
    assertEquals(outcome, { resource: null, usage: null });
  }
});

Deno.test("an error under status 200 is the fault of the status that belongs to its type", () => {
  const cases = [
    ["invalid_request_error", 400, "upstream_rejected"],
    ["rate_limit_error", 429, "upstream_throttled"],
    ["api_error", 500, "upstream_unavailable"],
    ["overloaded_error", 529, "upstream_unavailable"],
    ["later_error", 500, "upstream_unavailable"],
  ] as const;
  for (const [type, status, kind] of cases) {
    for (const outer of ["error", undefined]) {
      const read = relay(JSON.stringify({ type: outer, error: { type, message: "No." } }));
      assert(!read.ok && !isRefusal(read.failure));
      assertEquals([read.failure.kind, read.failure.upstream?.status], [kind, status]);
      assertEquals(read.failure.upstream?.error.message, "No.");
    }
  }
});

Deno.test("any other body is a failed attempt", () => {
  const bodies = ["", "[]", "null", '{"type":"message"', '{"type":"later"}', '{"content":[]}'];
  for (const body of [...bodies, new Uint8Array([0x22, 0xff, 0x22])]) {
    const read = relay(body);
    assert(!read.ok);
    assertEquals(read.failure.kind, "invalid_upstream_response");
  }
});
