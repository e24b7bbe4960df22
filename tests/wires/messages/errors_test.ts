import type { FaultKind } from "../../../src/core/failure/failure.ts";
import { openaiErrors } from "../../../src/core/failure/openai_error.ts";
import { messages } from "../../../src/wires/messages/messages.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { decodeStream, decodeText, streamOf } from "./encoded_request.ts";

const KINDS: readonly [type: string, status: number, kind: FaultKind][] = [
  ["invalid_request_error", 400, "upstream_rejected"],
  ["authentication_error", 401, "upstream_rejected"],
  ["billing_error", 402, "upstream_rejected"],
  ["permission_error", 403, "upstream_rejected"],
  ["not_found_error", 404, "upstream_rejected"],
  ["conflict_error", 409, "upstream_rejected"],
  ["request_too_large", 413, "upstream_rejected"],
  ["rate_limit_error", 429, "upstream_throttled"],
  ["api_error", 500, "upstream_unavailable"],
  ["timeout_error", 504, "upstream_unavailable"],
  ["overloaded_error", 529, "upstream_unavailable"],
  ["new_error", 500, "upstream_unavailable"],
];

Deno.test("an error under status 200 is the fault of the status that belongs to it", () => {
  for (const [type, status, kind] of KINDS) {
    const body = { type: "error", error: { type, message: "Sorry." } };
    for (const result of [decodeText(JSON.stringify(body)), decodeStream(streamOf([body]))]) {
      assert(!result.ok && "upstream" in result.failure);
      const { failure } = result;
      assertEquals<unknown>(failure.kind, kind);
      assertEquals<unknown>(failure.upstream, {
        status,
        headers: {},
        error: { message: "Sorry.", type, param: null, code: null },
        raw: null,
      });
      const answer = openaiErrors.whole(failure, "id");
      assertEquals([answer.status, answer.headers["content-type"]], [status, "application/json"]);
      assertEquals(JSON.parse(new TextDecoder().decode(answer.body)), {
        error: { message: "Sorry.", type, param: null, code: null },
      });
      assertEquals(failure.message.includes("Sorry"), false);
    }
  }
});

Deno.test("an error without fields still has a message and a type", () => {
  const result = decodeText('{"type":"error"}');
  assert(!result.ok && "upstream" in result.failure);
  const { error } = JSON.parse(
    new TextDecoder().decode(openaiErrors.whole(result.failure, "id").body),
  );
  assertEquals(error.type, "api_error");
  assert(error.message !== "");
});

Deno.test("an error body is parsed into message, type and code", () => {
  const error = { type: "billing_error", message: "Pay.", details: { error_code: "spent" } };
  assertEquals(messages.error({ type: "error", error }), {
    message: "Pay.",
    type: "billing_error",
    param: null,
    code: "spent",
  });
  assertEquals(messages.error({ error: { message: 1 } }), { param: null, code: null });
  assertEquals(messages.error({ error: "no" }), null);
  assertEquals(messages.error({}), null);
});
