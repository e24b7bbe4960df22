import { fault, refuse } from "../../src/core/failure/result.ts";
import { assertEquals } from "../support/assert.ts";
import { redactedFailure } from "../../src/upstream/rejection.ts";

Deno.test("the texts of an upstream's error lose the secrets, whichever member holds them", () => {
  const error = {
    message: "key s3 and s3",
    type: "t",
    code: '"\\u0073\\u0033"',
    param: null,
    status: 7,
  };
  const upstream = { status: 400, headers: {}, error, raw: null };
  const { failure } = fault("upstream_rejected", "Ours.", { upstream });
  assertEquals(redactedFailure(failure, ["s3"]), {
    ...failure,
    upstream: {
      ...upstream,
      error: {
        message: "key [redacted] and [redacted]",
        type: "t",
        code: '"[redacted]"',
        param: null,
        status: 7,
      },
    },
  });
});

Deno.test("a failure without an upstream's error stays as it is", () => {
  for (const { failure } of [fault("upstream_timeout", "Late."), refuse("draining", "Later.")]) {
    assertEquals(redactedFailure(failure, ["s3"]), failure);
  }
});
