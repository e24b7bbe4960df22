import { codedMessage, responseError } from "../../../../src/api/responses/generate/error_code.ts";
import { newResponseEncoder } from "../../../../src/api/responses/generate/encoder.ts";
import { fault, refuse } from "../../../../src/core/failure/result.ts";
import { assertEquals } from "../../../support/assert.ts";
import { finish, labelsOf, readEvents } from "../encoded.ts";
import { text } from "../event_cases.ts";

function reported(status: number, kind: "upstream_rejected" | "upstream_throttled") {
  const error = { message: "The provider's own words.", type: "x", code: null };
  const upstream = { status, headers: {}, error, raw: null };
  return fault(kind, "A provider refused.", { upstream }).failure;
}

Deno.test("the code of a failed response is one of the closed list, by the status of the failure", () => {
  const cases = [
    [fault("upstream_timeout", "No.").failure, "server_error", "[upstream_timeout] No."],
    [
      fault("provider_keys_resting", "No.").failure,
      "rate_limit_exceeded",
      "[provider_keys_resting] No.",
    ],
    [refuse("unsupported_feature", "No.").failure, "invalid_prompt", "[unsupported_feature] No."],
    [refuse("overloaded", "No.").failure, "server_error", "[overloaded] No."],
    [reported(429, "upstream_throttled"), "rate_limit_exceeded", "The provider's own words."],
    [reported(401, "upstream_rejected"), "invalid_prompt", "The provider's own words."],
  ] as const;
  for (const [failure, code, message] of cases) {
    assertEquals([responseError(failure).code, codedMessage(failure)], [code, message]);
  }
});

Deno.test("a stream whose first event would have been the terminal one fails with its opening", () => {
  const encoder = newResponseEncoder(labelsOf());
  encoder.push(finish());
  assertEquals(encoder.end().ok, true);
  const failed = encoder.fail(fault("state_unavailable", "No.").failure);
  assertEquals(readEvents(failed).map(({ type }) => type), [
    "response.created",
    "response.in_progress",
    "response.failed",
  ]);
});

Deno.test("a stream that breaks after content has the code of its failure, and the gateway's own sentence", () => {
  const encoder = newResponseEncoder(labelsOf());
  const begun = encoder.push(text("A"));
  const failed = encoder.fail(reported(429, "upstream_throttled"));
  const events = readEvents([...begun.ok ? begun.value : [], ...failed]);
  const response = events.at(-1)?.response;
  assertEquals<unknown>(JSON.parse(JSON.stringify(response)).error, {
    code: "rate_limit_exceeded",
    type: "rate_limit_error",
    message: "A provider refused.",
  });
});
