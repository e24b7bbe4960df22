/**
 * Response headers that never come from a provider: those of one connection, of one content coding,
 * of the gateway itself, and those that a browser applies to the whole origin, which is the
 * gateway's.
 */
const NEVER_PASSED = new Set([
  "alt-svc",
  "clear-site-data",
  "connection",
  "content-digest",
  "content-encoding",
  "content-length",
  "content-location",
  "content-md5",
  "content-security-policy",
  "content-security-policy-report-only",
  "date",
  "digest",
  "etag",
  "keep-alive",
  "last-modified",
  "proxy-connection",
  "public-key-pins",
  "repr-digest",
  "strict-transport-security",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-content-type-options",
]);

const NEVER_PASSED_PREFIXES = ["set-cookie", "proxy-auth", "x-gateway-", "access-control-"];

/**
 * True if a response header of a provider, by its lower-case name, is never passed on to a client.
 */
export function isNeverPassed(name: string): boolean {
  return NEVER_PASSED.has(name) || NEVER_PASSED_PREFIXES.some((prefix) => name.startsWith(prefix));
}

/**
 * Headers that clients of model APIs read; the official SDKs retry by `retry-after-ms` and
 * `x-should-retry`.
 */
const PASSED = new Set([
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
  "cf-ray",
  "server-timing",
]);

const PASSED_PREFIXES = ["content-", "openai-", "anthropic-", "x-ms-", "ratelimit"];

/**
 * Rate limits and request IDs under the names of all vendors, such as `apim-request-id`,
 * `x-amzn-requestid`.
 */
const PASSED_PARTS = /(?:^|-)(?:ratelimit-|request-?id$)/;

/**
 * True if a response header of a provider, by its lower-case name, is passed on without being
 * configured.
 */
export function isPassed(name: string): boolean {
  return !isNeverPassed(name) && (PASSED.has(name) || PASSED_PARTS.test(name) ||
    PASSED_PREFIXES.some((prefix) => name.startsWith(prefix)));
}
