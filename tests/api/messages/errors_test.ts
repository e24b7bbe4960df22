import { errorRecord, messagesErrors } from "../../../src/api/messages/errors.ts";
import {
  type Failure,
  FAULTS,
  isFaultKind,
  type RefusalKind,
  REFUSALS,
} from "../../../src/core/failure/failure.ts";
import { fault, refuse } from "../../../src/core/failure/result.ts";
import { utf8Bytes } from "../../../src/formats/utf8.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** Status, headers and JSON of the response to a failure. */
function written(failure: Failure) {
  const { status, headers, body } = messagesErrors.whole(failure, "r-1");
  return { status, headers, body: JSON.parse(new TextDecoder().decode(body)) };
}

function isRefusalKind(name: string): name is RefusalKind {
  return name in REFUSALS;
}

/** Type of the error for each status that the gateway itself gives (Messages API, errors). */
const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  408: "timeout_error",
  413: "request_too_large",
  426: "invalid_request_error",
  429: "rate_limit_error",
  499: "api_error",
  500: "api_error",
  501: "not_supported",
  502: "api_error",
  503: "overloaded_error",
  504: "timeout_error",
};

/** Statuses for which clients must not repeat the request. */
const FINAL = [401, 501];

Deno.test("every refusal has the envelope of the Messages API", () => {
  for (const [kind, { status, code = kind }] of Object.entries(REFUSALS)) {
    if (kind === "unsupported_content_encoding") continue;
    assert(isRefusalKind(kind));
    // A budget that is used up is no rate.
    const type = kind === "budget_exceeded" ? "billing_error" : TYPES[status];
    const answer = written(refuse(kind, "No.").failure);
    assertEquals<unknown>(answer, {
      status,
      headers: {
        "content-type": "application/json",
        "request-id": "r-1",
        ...FINAL.includes(status) && { "x-should-retry": "false" },
      },
      body: {
        type: "error",
        error: { type, message: "No.", details: { error_code: code } },
        request_id: "r-1",
      },
    }, kind);
  }
});

Deno.test("a body with a content coding is an invalid request with the vendor's code", () => {
  const { status, body } = written(refuse("unsupported_content_encoding", "No.").failure);
  assertEquals([status, body.error], [400, {
    type: "invalid_request_error",
    message: "No.",
    details: { error_code: "request_body_encoding_unsupported" },
  }]);
});

Deno.test("every fault of the gateway has the envelope, and Retry-After where it is known", () => {
  for (const kind of Object.keys(FAULTS).filter(isFaultKind)) {
    const { status, type, code } = FAULTS[kind];
    const answer = written(fault(kind, "It failed.", { retryAfterMs: 1_500 }).failure);
    const shown = status === "upstream" ? 502 : status;
    assertEquals<unknown>(answer, {
      status: shown,
      headers: { "retry-after": "2", "content-type": "application/json", "request-id": "r-1" },
      body: {
        type: "error",
        error: {
          type: TYPES[shown],
          message: "It failed.",
          ...code !== "upstream" && { details: { error_code: code === "none" ? type : kind } },
        },
        request_id: "r-1",
      },
    }, kind);
  }
});

Deno.test("a refusal names its field by a dotted path, in the message and in the details", () => {
  const { failure } = refuse(
    "invalid_type",
    { kind: "unexpected", expected: "a text" },
    "messages[1].content[0]",
  );
  assertEquals(written(failure).body.error, {
    type: "invalid_request_error",
    message: "messages.1.content.0: Input should be a text",
    details: { error_code: "invalid_type", param: "messages.1.content.0" },
  });
});

/** A fault with an upstream's own error. */
function reported(status: number, error: Record<string, string | number | null>, headers = {}) {
  const kind = status >= 500 ? "upstream_unavailable" : "upstream_rejected";
  return fault(kind, "The provider responded.", {
    upstream: { status, headers, error, raw: null },
  }).failure;
}

Deno.test("another vendor's error keeps its status, message and code", () => {
  const cases = [
    [400, "context_length_exceeded", "invalid_request_error"],
    [401, "invalid_api_key", "authentication_error"],
    [402, null, "billing_error"],
    [403, null, "permission_error"],
    [404, "model_not_found", "not_found_error"],
    [409, null, "conflict_error"],
    [413, null, "request_too_large"],
    [418, null, "invalid_request_error"],
    [422, null, "invalid_request_error"],
    [429, "rate_limit_exceeded", "rate_limit_error"],
    [429, "insufficient_quota", "billing_error"],
    [500, null, "api_error"],
    [502, null, "api_error"],
    [503, null, "overloaded_error"],
    [504, null, "timeout_error"],
    [520, null, "api_error"],
    [529, null, "overloaded_error"],
  ] as const;
  for (const [status, code, type] of cases) {
    const message = "This model's maximum context length is 8192 tokens.";
    const answer = written(reported(status, { message, type: "theirs", param: "x", code }));
    assertEquals<unknown>([answer.status, answer.body.error], [status, {
      type,
      message,
      ...code !== null && { details: { error_code: code } },
    }]);
  }
});

Deno.test("headers of another vendor's error pass, but the request ID is the gateway's", () => {
  const theirs = { "retry-after": "7", "content-type": "text/html", "request-id": "theirs" };
  assertEquals<unknown>(written(reported(401, { message: "m" }, theirs)).headers, {
    "retry-after": "7",
    "content-type": "application/json",
    "request-id": "r-1",
    "x-should-retry": "false",
  });
});

Deno.test("an upstream's error without a text has the gateway's sentence", () => {
  assertEquals(written(reported(500, { message: 7, code: 7 })).body.error, {
    type: "api_error",
    message: "The provider responded.",
  });
});

Deno.test("the error of an upstream with the same API passes byte for byte, with its own request ID", () => {
  const body = utf8Bytes(' {"type":"error","error":{"type":"overloaded_error","message":"m"}}');
  const headers = { "request-id": "theirs", "x-should-retry": "true" };
  const upstream = { status: 529, headers, error: {}, raw: { format: "messages", body } } as const;
  const { failure } = fault("upstream_unavailable", "Ours.", { upstream });
  assertEquals<unknown>(messagesErrors.whole(failure, "r-1"), {
    status: 529,
    headers: { "content-type": "application/json", ...headers },
    body,
  });
});

Deno.test("clients do not repeat a call that such an upstream answers with 401, unless it says otherwise", () => {
  const body = utf8Bytes('{"type":"error","error":{"type":"authentication_error","message":"m"}}');
  const cases = [[401, {}, "false"], [401, { "x-should-retry": "true" }, "true"], [
    400,
    {},
    undefined,
  ]] as const;
  for (const [status, headers, repeats] of cases) {
    const upstream = { status, headers, error: {}, raw: { format: "messages", body } } as const;
    const { failure } = fault("upstream_rejected", "Ours.", { upstream });
    assertEquals(messagesErrors.whole(failure, "r-1").headers["x-should-retry"], repeats);
  }
});

Deno.test("the bytes of another vendor's error are not passed on", () => {
  const raw = { format: "openai", body: utf8Bytes('{"error":{"message":"m"}}') } as const;
  const upstream = { status: 400, headers: {}, error: { message: "m" }, raw };
  const answer = written(fault("upstream_rejected", "Ours.", { upstream }).failure);
  assertEquals(answer.body.error, { type: "invalid_request_error", message: "m" });
});

Deno.test("an error record in a stream has the type api_error and the request ID", () => {
  const { failure } = fault("circuit_open", "The circuit is open.");
  assertEquals(errorRecord(failure, "r-1"), {
    event: "error",
    data:
      '{"type":"error","error":{"type":"api_error","message":"The circuit is open."},"request_id":"r-1"}',
    raw: null,
  });
});
