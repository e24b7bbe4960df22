import { clientResponseHeaders, retryAfterMs } from "../../src/upstream/headers.ts";
import { assertEquals } from "../support/assert.ts";

function copied(headers: Record<string, string>, secrets: readonly string[] = []) {
  return clientResponseHeaders(new Headers(headers), { wire: {}, provider: { secrets } });
}

Deno.test("an upstream's headers are copied back, names in lower case", () => {
  assertEquals(copied({ "Retry-After": "7", "X-RateLimit-Remaining": "0", "x-request-id": "r" }), {
    "retry-after": "7",
    "x-ratelimit-remaining": "0",
    "x-request-id": "r",
  });
});

const KEPT_BACK = [
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

for (const name of KEPT_BACK) {
  Deno.test(`an upstream's ${name} is not copied back`, () => {
    assertEquals(copied({ [name]: "x", "x-other": "y" }), { "x-other": "y" });
  });
}

Deno.test("headers that Connection lists belong to that connection", () => {
  assertEquals(
    copied({ connection: "close, X-Hop,  x-two", "x-hop": "1", "x-two": "2", "x-far": "3" }),
    {
      "x-far": "3",
    },
  );
});

Deno.test("a header that echoes a secret is not copied back", () => {
  const headers = { "x-echo": "Bearer sk-secret", "x-other": "y" };
  assertEquals(copied(headers, ["sk-secret"]), { "x-other": "y" });
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

Deno.test("without Retry-After nothing is asked for", () => {
  assertEquals(retryAfterMs(new Headers(), NOW), null);
});
