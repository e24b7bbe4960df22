import type { ConnectionCause } from "../core/failure/connection_error.ts";

/** Connection error causes by the code of the system error. */
const CAUSES: ReadonlyMap<string, ConnectionCause> = new Map([
  ["ECONNREFUSED", "refused"],
  ["ECONNRESET", "reset"],
  ["ECONNABORTED", "reset"],
  ["EPIPE", "reset"],
  ["ENOTCONN", "reset"],
  ["ETIMEDOUT", "timeout"],
  ["EHOSTUNREACH", "unreachable"],
  ["ENETUNREACH", "unreachable"],
  ["EHOSTDOWN", "unreachable"],
  ["ENETDOWN", "unreachable"],
  ["EADDRNOTAVAIL", "unreachable"],
  ["EACCES", "unreachable"],
  ["EPERM", "unreachable"],
]);

/** Returns the cause of an error that the runtime threw while it connected, read or wrote. */
export function findCause(error: unknown): ConnectionCause {
  if (!(error instanceof Error)) return "other";
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known = CAUSES.get(code);
  if (known !== undefined) return known;
  if (error instanceof Deno.errors.ConnectionReset) return "reset";
  if (error instanceof Deno.errors.BrokenPipe) return "reset";
  if (error instanceof Deno.errors.UnexpectedEof) return "closed";
  if (error instanceof Deno.errors.TimedOut) return "timeout";
  // Only TLS decodes the bytes that it reads.
  return error instanceof Deno.errors.InvalidData ? tlsCause(error.message) : "other";
}

/** Returns the cause of a failed TLS handshake: the runtime names it only in its text. */
export function tlsCause(text: string): ConnectionCause {
  if (!text.includes("invalid peer certificate")) return "tls_other";
  if (/not valid for name|NotValidForName/.test(text)) return "tls_name";
  return /certificate expired|not valid yet|: Expired|: NotValidYet/.test(text)
    ? "tls_expired"
    : "tls_untrusted";
}
