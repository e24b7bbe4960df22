import { assert, assertEquals } from "../../support/assert.ts";
import type { Fault, FaultKind } from "../../../src/core/failure/failure.ts";
import { isRefusal } from "../../../src/core/failure/failure.ts";
import { openaiErrors } from "../../../src/core/failure/openai_error.ts";
import { isBrokenOff } from "../../../src/wires/local/errors.ts";
import { local } from "../../../src/wires/local/local.ts";
import { valueOf } from "../../support/translated.ts";
import { countingMint, localSender } from "./target.ts";

/** Returns the fault of an error line, as the first record of a stream or after some text. */
function faultOf(line: Record<string, unknown>, isCommitted = false): Fault {
  const decoder = local.newDecoder(countingMint());
  const push = (data: string) => decoder.push({ event: null, data, raw: null });
  if (isCommitted) valueOf(push('{"message":{"content":"a"}}'));
  const step = push(JSON.stringify(line));
  assert(!step.ok && !isRefusal(step.failure));
  return step.failure;
}

const KINDS: readonly (readonly [status: unknown, kind: FaultKind])[] = [
  [undefined, "upstream_unavailable"],
  ["429", "upstream_unavailable"],
  [200, "upstream_unavailable"],
  [499, "upstream_unavailable"],
  [600, "upstream_unavailable"],
  [500.5, "upstream_unavailable"],
  [429, "upstream_throttled"],
  [400, "upstream_rejected"],
  [404, "upstream_rejected"],
  [500, "upstream_unavailable"],
  [502, "upstream_unavailable"],
  [503, "upstream_unavailable"],
  [504, "upstream_unavailable"],
  [529, "upstream_unavailable"],
  [501, "upstream_error"],
  [599, "upstream_error"],
];

Deno.test("an error record before the first delivery is the fault of its status", () => {
  for (const [status, kind] of KINDS) {
    const fault = faultOf({ error: "text", status });
    assertEquals(fault.kind, kind);
    const isNamed = typeof status === "number" && Number.isInteger(status) && status >= 400 &&
      status < 600 && status !== 499;
    assertEquals(fault.upstream?.status, isNamed ? status : 502);
  }
});

Deno.test("an error record without a status keeps its text", () => {
  const { kind, upstream } = faultOf({ error: "model runner has unexpectedly stopped" });
  assertEquals(kind, "upstream_unavailable");
  assertEquals(upstream?.error.message, "model runner has unexpectedly stopped");
});

Deno.test("an error record with a status is returned in the error envelope, without its other fields", () => {
  for (const error of ["model 'x' not found", { message: "model 'x' not found" }]) {
    const answer = openaiErrors.whole(
      faultOf({ error, status: 404, signin_url: "http://x" }),
      "id",
    );
    assertEquals(
      new TextDecoder().decode(answer.body),
      `{"error":{"type":"invalid_request_error","message":"model 'x' not found",` +
        `"param":null,"code":null}}`,
    );
    assertEquals<unknown>(answer.headers, { "content-type": "application/json" });
  }
});

Deno.test("an error record after delivery started is a broken stream, and its text is not sent to the client", () => {
  const fault = faultOf({ error: "secret", status: 429 }, true);
  assertEquals(fault.kind, "invalid_upstream_response");
  assertEquals(fault.upstream, null);
  assertEquals(fault.message.includes("secret"), false);
});

Deno.test("an error body is a string, or an object behind some proxies", () => {
  const read = { message: "busy", param: null, code: null };
  assertEquals<unknown>(local.error({ error: "busy" }), read);
  assertEquals<unknown>(local.error({ error: { message: "busy" }, signin_url: "x" }), read);
  assertEquals(local.error({ error: {} })?.message, "The provider gave an error.");
  for (const body of [{}, { error: null }, { error: "" }, { error: ["busy"] }, { error: 1 }]) {
    assertEquals(local.error(body), null);
  }
});

Deno.test("only status 499 is a request cancelled by the runtime", () => {
  assertEquals([400, 498, 499, 500].filter(isBrokenOff), [499]);
});

Deno.test("the base URL is the configured URL without trailing slashes and /api", () => {
  for (const end of ["", "/", "//", "/api", "/api/"]) {
    assertEquals(local.base(`http://127.0.0.1:11434${end}`), "http://127.0.0.1:11434");
  }
  assertEquals(local.base("https://x.test/ollama/api/"), "https://x.test/ollama");
  assertEquals(local.base("https://x.test/myapi"), "https://x.test/myapi");
});

Deno.test("the key overrides configured headers, and no client header is forwarded", () => {
  const client = new Headers({ authorization: "Bearer client", "idempotency-key": "i" });
  assertEquals(local.headers(localSender(), client), { "content-type": "application/json" });
  const headers = { authorization: "Basic x", "x-site": "s" };
  assertEquals(local.headers(localSender({ headers }), client), {
    authorization: "Basic x",
    "x-site": "s",
    "content-type": "application/json",
  });
  assertEquals(local.headers(localSender({ headers, api_key: "k" }), client), {
    authorization: "Bearer k",
    "x-site": "s",
    "content-type": "application/json",
  });
});
