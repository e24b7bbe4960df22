import { createHash } from "node:crypto";
import type { Call } from "../call/call.ts";
import type { Candidate, Inference } from "../call/inference.ts";

/** Client headers that may change the upstream's response. */
const CONTROL_HEADERS = ["compat-beta", "messages-beta", "idempotency-key"] as const;

/**
 * Returns the cache key of a candidate's response: a digest of the client's JSON, the upstream
 * request, the provider with its current settings, the model, the protocol and the control headers;
 * with `caching.per_key` also of the caller. Null if the response is not cacheable.
 */
export function cacheKey(
  call: Pick<Call, "headers" | "generation" | "caller">,
  inference: Pick<Inference, "matchesAs" | "canonical">,
  { target, request }: Pick<Candidate, "target" | "request">,
): string | null {
  const canonical = inference.canonical(request);
  if (canonical === null) return null;
  const { provider, model, wire } = target;
  const controls = CONTROL_HEADERS.map((name) => call.headers.get(name));
  const who = [inference.matchesAs[0], provider.namespace, wire.name, model, request.path];
  const { per_key } = call.generation.config.caching;
  const caller = per_key ? [call.caller.name] : [];
  // The first part is JSON without line breaks, so the line break marks the start of the second
  // part.
  return createHash("sha256")
    .update(`${JSON.stringify([...who, ...controls, ...caller])}\n`)
    .update(canonical)
    .digest("hex");
}
