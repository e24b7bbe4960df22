import type { Cancellation } from "../core/cancellation.ts";
import { type ConnectionCause, ConnectionError } from "../core/failure/connection_error.ts";
import { type Failure, isRefusal } from "../core/failure/failure.ts";
import type { HeaderFields } from "../core/header_fields.ts";
import { failed, fault, type Result, success } from "../core/failure/result.ts";
import type { Incoming, Outgoing, World } from "../core/world.ts";
import type { Payload } from "../wires/payload.ts";
import type { Provider, UpstreamRequest } from "../wires/wire.ts";
import { upstreamRequestHeaders } from "./headers.ts";

/** One request with its connection policy; `isRepeatable` permits to replace a stale connection. */
export interface Sending
  extends Required<Pick<Outgoing, "transport" | "isRepeatable" | "onRepeat">> {
  readonly request: UpstreamRequest;
  readonly headers: HeaderFields;
  readonly cancellation: Cancellation;
  /** Called with the body that is sent; absent if nothing needs it. */
  onSend?(body: ReturnType<Payload["bytes"]> | null): void;
}

/** Sends one request and returns the response. Redirects are returned, not followed. */
export async function connect(
  world: World,
  url: string,
  { request, headers, cancellation, transport, isRepeatable, onRepeat, onSend }: Sending,
): Promise<Result<Incoming>> {
  try {
    const body = request.payload?.bytes() ?? null;
    onSend?.(body);
    return success(
      await world.send(url, {
        method: request.method,
        headers: upstreamRequestHeaders(headers),
        body,
        transport,
        isRepeatable,
        onRepeat,
        cancellation,
      }),
    );
  } catch (error) {
    const mayHaveRun = !(error instanceof ConnectionError) || error.mayHaveRun;
    const { reason } = cancellation;
    if (reason !== null) return failed(mayHaveRun ? reason : unsentFailure(reason));
    const cause = error instanceof ConnectionError ? error.kind : "other";
    return fault("upstream_unreachable", errorMessage(cause, mayHaveRun), { mayHaveRun, cause });
  }
}

/** Returns the failure of an attempt that ended while connecting, which has sent no request. */
function unsentFailure(reason: Failure): Failure {
  if (isRefusal(reason)) return reason;
  const unsent: Failure = { ...reason, mayHaveRun: false };
  return reason.kind === "upstream_timeout" ? { ...unsent, cause: "timeout" } : unsent;
}

/** Returns the error message for a client, which names only the class of the connection error. */
function errorMessage(cause: ConnectionCause, mayHaveRun: boolean): string {
  if (mayHaveRun) return "The connection to the provider broke before it responded.";
  switch (cause) {
    case "unsendable":
      return "A header for the provider holds characters that cannot be sent.";
    case "dns":
      return "The provider's host name could not be resolved.";
    case "refused":
      return "The provider refused the connection.";
    case "tls_untrusted":
    case "tls_name":
    case "tls_expired":
    case "tls_other":
      return "No secure connection to the provider could be made.";
    case "proxy":
    case "unreachable":
    case "timeout":
    case "reset":
    case "closed":
    case "malformed":
    case "aborted":
    case "other":
      return "No connection to the provider could be made.";
  }
}

/**
 * Returns the URL of an upstream request: the path below the provider's base, with the query of its
 * base URL. A query parameter of the path that the base URL has too is dropped: clients choose some
 * path parameters, and the configuration wins, as with headers.
 */
export function upstreamUrl(
  { base, query }: Pick<Provider, "base" | "query">,
  path: string,
): string {
  if (query === "") return base + path;
  const mark = path.indexOf("?");
  if (mark < 0) return `${base}${path}?${query}`;
  const configured = new Set(new URLSearchParams(query).keys());
  const rest = path.slice(mark + 1).split("&")
    .filter((pair) => pair !== "" && !namesOf(pair).some((name) => configured.has(name)));
  return `${base}${path.slice(0, mark)}?${[query, ...rest].join("&")}`;
}

function namesOf(pair: string): string[] {
  return [...new URLSearchParams(pair).keys()];
}
