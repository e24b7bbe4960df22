import type { Call } from "../call/call.ts";
import type { Candidate } from "../call/inference.ts";
import type { HeaderFields } from "../core/header_fields.ts";
import { isNeverPassed, isPassed } from "../config/passed_headers.ts";
import type { FieldReader } from "../core/world.ts";
import { holdsSecret } from "../wires/secret_text.ts";
import type { Provider, Wire } from "../wires/wire.ts";

/** Returns the headers of the request of a candidate, without those of a refreshed credential. */
export function candidateHeaders(
  { upstreamHeaders, headers }: Pick<Call, "upstreamHeaders" | "headers">,
  { request, target }: Pick<Candidate, "request" | "target">,
): HeaderFields {
  return {
    ...upstreamHeaders,
    ...request.headers,
    ...target.wire.headers(target, headers),
    ...request.versionHeaders,
  };
}

/** Returns the headers of an upstream request; `identity` requests the body without compression. */
export function upstreamRequestHeaders(headers: HeaderFields): HeaderFields {
  return { "user-agent": "switchyard", ...headers, "accept-encoding": "identity" };
}

/** The parts of a target on which it depends which of its headers are forwarded. */
export interface HeaderSource {
  readonly wire: Pick<Wire, "hidesHeader">;
  readonly provider: Pick<Provider, "secrets"> & {
    readonly settings: Pick<Provider["settings"], "pass_headers">;
  };
}

const NO_NAMES: ReadonlySet<string> = new Set();

/**
 * Returns the upstream's response headers that are forwarded to the client: those of the list, and
 * those that the configuration names.
 */
export function clientResponseHeaders(
  headers: FieldReader,
  { wire, provider: { secrets, settings } }: HeaderSource,
): HeaderFields {
  const connection = headers.get("connection");
  const listed = connection === null || connection === undefined
    ? NO_NAMES
    : new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
  const copied: Record<string, string> = {};
  for (const [name, value] of headers) {
    const isNamed = settings.pass_headers.includes(name) && !isNeverPassed(name);
    if (!isNamed && (!isPassed(name) || wire.hidesHeader?.(name))) continue;
    if (listed.has(name) || holdsSecret(value, secrets)) continue;
    copied[name] = value;
  }
  return copied;
}
