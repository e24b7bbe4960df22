import {
  type Failure,
  FAULTS,
  isFaultKind,
  type RawError,
  type Reason,
  type RefusalKind,
  REFUSALS,
  type UpstreamError,
} from "../../../src/core/failure/failure.ts";
import { messageOf, openaiErrors } from "../../../src/core/failure/openai_error.ts";
import { fault, refuse } from "../../../src/core/failure/result.ts";
import { assert, assertEquals } from "../../support/assert.ts";

function isRefusalKind(name: string): name is RefusalKind {
  return name in REFUSALS;
}

/** Status, headers and text of the response to a failure. */
function written(failure: Failure) {
  const { status, headers, body } = openaiErrors.whole(failure, "id");
  return { status, headers, body, text: new TextDecoder().decode(body) };
}

const OWN: UpstreamError = {
  status: 418,
  headers: { "retry-after": "7", "content-type": "text/plain" },
  error: { message: "Theirs.", extra: [1] },
  raw: null,
};

Deno.test("a refusal is written with the type of its status and its kind as code", () => {
  for (const [kind, { status, code = kind }] of Object.entries(REFUSALS)) {
    assert(isRefusalKind(kind));
    const answer = written(refuse(kind, "No.", "a.b").failure);
    assertEquals(answer.status, status);
    assertEquals<unknown>(answer.headers, { "content-type": "application/json" });
    const { error } = JSON.parse(answer.text);
    assertEquals([error.message, error.param, error.code], ["No.", "a.b", code]);
  }
  assertEquals(
    written(refuse("unknown_model", "No such model.").failure).text,
    '{"error":{"message":"No such model.","type":"invalid_request_error","param":null,' +
      '"code":"model_not_found"}}',
  );
});

Deno.test("each reason of a refusal has its sentence with the path of the field", () => {
  const cases: readonly (readonly [Reason, string])[] = [
    [{ kind: "required" }, "The field 'a[0].b' is required."],
    [{ kind: "unexpected", expected: "a number" }, "The field 'a[0].b' must be a number."],
    [{ kind: "not_carried", advice: null }, "The provider cannot honour 'a[0].b'."],
    [{ kind: "not_carried", advice: "Omit it." }, "The provider cannot honour 'a[0].b'. Omit it."],
    [{ kind: "rule", rule: "must not be empty" }, "'a[0].b' must not be empty."],
    [{ kind: "rule", before: "Here ", rule: "is wrong" }, "Here 'a[0].b' is wrong."],
    [{ kind: "text", text: "It is wrong." }, "It is wrong."],
  ];
  for (const [reason, sentence] of cases) {
    const { failure } = refuse("invalid_value", reason, "a[0].b");
    assertEquals(JSON.parse(written(failure).text).error.message, sentence);
    assertEquals(messageOf(failure), sentence);
  }
});

Deno.test("an upstream's own error is written for the kinds that pass it on, and for no other", () => {
  const kinds = Object.keys(FAULTS).filter(isFaultKind);
  assert(kinds.length > 10);
  for (const kind of kinds) {
    const { status } = FAULTS[kind];
    const answer = written(fault(kind, "Ours.", { upstream: OWN }).failure);
    assertEquals(answer.status, status === "upstream" ? 418 : status);
    assertEquals(answer.text.includes("Theirs."), status === "upstream", kind);
    assertEquals(answer.text.includes("Ours."), status !== "upstream", kind);
    assertEquals(answer.headers["content-type"], "application/json");
    const alone = written(fault(kind, "Ours.").failure);
    assertEquals(alone.status, status === "upstream" ? 502 : status);
    assert(alone.text.includes("Ours."));
  }
});

Deno.test("an upstream's error keeps its members and headers, or its bytes where there are some", () => {
  const made = written(fault("upstream_rejected", "Ours.", { upstream: OWN }).failure);
  assertEquals(made.text, '{"error":{"message":"Theirs.","extra":[1]}}');
  assertEquals(made.headers["retry-after"], "7");
  const body = new TextEncoder().encode(' {"error":{"message":"T"}, "more":1.0}');
  const withRaw = (format: RawError["format"]) => {
    const upstream = { ...OWN, raw: { format, body } };
    const { failure } = fault("upstream_rejected", "Ours.", { upstream });
    return openaiErrors.whole(failure, "id").body;
  };
  assertEquals(withRaw("openai"), body);
  assertEquals(withRaw("messages"), made.body);
});

Deno.test("Retry-After is written in whole seconds, rounded up", () => {
  const busy = (retryAfterMs: number | null) =>
    written(fault("provider_busy", "Later.", { retryAfterMs }).failure).headers["retry-after"];
  assertEquals([busy(1_001), busy(1_000), busy(0), busy(null)], ["2", "1", "0", undefined]);
});

Deno.test("an error whose code is left out has no param either", () => {
  assertEquals(
    written(fault("no_route", "None.").failure).text,
    '{"error":{"message":"None.","type":"routing_error"}}',
  );
});
