import { clientResponseHeaders } from "../../src/upstream/headers.ts";
import { retryAfterMs } from "../../src/core/header_fields.ts";
import { assertEquals } from "../support/assert.ts";

function copied(
  headers: Record<string, string>,
  secrets: readonly string[] = [],
  names: readonly string[] = [],
) {
  const provider = { secrets, settings: { pass_headers: names } };
  return clientResponseHeaders(new Headers(headers), { wire: {}, provider });
}

Deno.test("the headers that clients of model APIs read are passed on, names in lower case", () => {
  const passed = [
    "Content-Type",
    "content-language",
    "content-disposition",
    "content-range",
    "Retry-After",
    "retry-after-ms",
    "x-should-retry",
    "X-RateLimit-Remaining",
    "x-ratelimit-limit-requests",
    "anthropic-ratelimit-tokens-reset",
    "ratelimit-policy",
    "RateLimit",
    "x-request-id",
    "request-id",
    "apim-request-id",
    "x-amzn-requestid",
    "openai-processing-ms",
    "anthropic-version",
    "x-ms-region",
    "cf-ray",
    "server-timing",
  ];
  const sent = Object.fromEntries(passed.map((name) => [name, "x"]));
  const lower = Object.fromEntries(passed.map((name) => [name.toLowerCase(), "x"]));
  assertEquals(copied(sent), lower);
});

const STOPPED = [
  "alt-svc",
  "clear-site-data",
  "strict-transport-security",
  "location",
  "refresh",
  "link",
  "www-authenticate",
  "server",
  "via",
  "cache-control",
  "expires",
  "vary",
  "p3p",
  "report-to",
  "service-worker-allowed",
  "x-frame-options",
  "x-other",
];

for (const name of STOPPED) {
  Deno.test(`an upstream's ${name} is not passed on unless pass_headers names it`, () => {
    assertEquals(copied({ [name]: "x", "retry-after": "1" }), { "retry-after": "1" });
  });
}

Deno.test("pass_headers names further headers that are passed on", () => {
  assertEquals(copied({ "X-Other": "y", "link": "z" }, [], ["x-other"]), { "x-other": "y" });
});

const NEVER = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "content-length",
  "content-encoding",
  "content-md5",
  "content-digest",
  "content-location",
  "content-security-policy",
  "content-security-policy-report-only",
  "x-content-type-options",
  "digest",
  "etag",
  "last-modified",
  "set-cookie",
  "set-cookie2",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-authentication-info",
  "x-gateway-request-id",
  "x-gateway-provider",
  "x-gateway-anything",
  "access-control-allow-origin",
];

for (const name of NEVER) {
  Deno.test(`an upstream's ${name} is never passed on, whatever pass_headers names`, () => {
    assertEquals(copied({ [name]: "x", "cf-ray": "y" }, [], [name]), { "cf-ray": "y" });
  });
}

for (const name of ["alt-svc", "clear-site-data", "strict-transport-security"]) {
  Deno.test(`an upstream's ${name}, which applies to the gateway's whole origin, is never passed on`, () => {
    assertEquals(copied({ [name]: "x" }, [], [name]), {});
  });
}

Deno.test("headers that Connection lists belong to that connection", () => {
  const headers = {
    connection: "close, CF-Ray,  x-two",
    "cf-ray": "1",
    "x-two": "2",
    "x-ms-a": "3",
  };
  assertEquals(copied(headers, [], ["x-two"]), { "x-ms-a": "3" });
});

Deno.test("a header that echoes a secret or a signature is not passed on, also if pass_headers names it", () => {
  const headers = {
    "x-ms-echo": "Bearer sk-secret",
    "x-ms-signed": `AWS4-HMAC-SHA256 Signature=${"0a".repeat(32)}`,
    "x-echo": "sk-secret",
    "cf-ray": "y",
  };
  assertEquals(copied(headers, ["sk-secret"], ["x-echo"]), { "cf-ray": "y" });
});

const NOW = Date.UTC(2025, 0, 1);

const ASKED: readonly (readonly [value: string, milliseconds: number | null])[] = [
  ["0", 0],
  ["7", 7000],
  [" 7 ", 7000],
  ["1.5", 1500],
  ["Wed, 01 Jan 2025 00:00:10 GMT", 10_000],
  ["Wed, 01 Jan 2025 00:00:00 GMT", 0],
  ["Tue, 31 Dec 2024 23:59:00 GMT", 0],
  ["", null],
  ["soon", null],
  ["-5", null],
];

for (const [value, milliseconds] of ASKED) {
  Deno.test(`Retry-After: ${JSON.stringify(value)} asks for ${milliseconds} ms`, () => {
    assertEquals(retryAfterMs(new Headers({ "retry-after": value }), NOW), milliseconds);
  });
}

Deno.test("without Retry-After no delay is requested", () => {
  assertEquals(retryAfterMs(new Headers(), NOW), null);
});
