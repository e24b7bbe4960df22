import type { Call } from "../call/call.ts";
import { carriedPaths } from "../call/inference.ts";
import type { PlannedCandidate } from "../call/plan.ts";
import type { HeaderFields } from "../core/header_fields.ts";
import { upstreamUrl } from "../upstream/connect.ts";
import { candidateHeaders, upstreamRequestHeaders } from "../upstream/headers.ts";
import type { WireName } from "../wires/wire.ts";

/** A target of a plan with the request that it would get. */
export interface TargetView {
  readonly provider: string;
  readonly wire: WireName;
  readonly model: string;
  /** Share of the calls, with the shares of the keys; empty for a fallback. */
  readonly share: string;
  readonly lossy: readonly string[];
  readonly verified: readonly string[];
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderFields;
  /** Text of the body; empty without one. */
  body(): string;
}

/** Returns a target of a plan with the request that it would get. */
export function viewTarget(
  call: Call,
  candidate: PlannedCandidate,
  share: string,
  keys: string | null,
): TargetView {
  const { target: { provider, wire, model }, request } = candidate;
  return {
    provider: provider.id,
    wire: wire.name,
    model,
    share: keys === null ? share : `${share}, ${keys}`,
    ...carriedPaths(request),
    method: request.method,
    url: upstreamUrl(provider, request.path),
    headers: upstreamRequestHeaders(candidateHeaders(call, candidate)),
    body: () => request.payload?.text() ?? "",
  };
}
