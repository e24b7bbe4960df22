/** Codes with which upstreams and budgets of client keys state that no more is paid for. */
const SPENT_CODES: readonly unknown[] = [
  "insufficient_quota",
  "billing_hard_limit_reached",
  "budget_exceeded",
];

const TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  409: "conflict_error",
  413: "request_too_large",
  429: "rate_limit_error",
  499: "api_error",
  501: "not_supported",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** Returns the `type` of an error with this status and code (Messages API, errors). */
export function errorType(status: number, code: string | null): string {
  if (status === 429 && SPENT_CODES.includes(code)) return "billing_error";
  return TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");
}
