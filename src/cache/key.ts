import { createHash } from "node:crypto";
import type { Call } from "../call/call.ts";
import type { Candidate, Inference } from "../call/inference.ts";

/** Client headers that may change the upstream's response. */
const CONTROL_HEADERS = ["compat-beta", "messages-beta", "idempotency-key"] as const;

/**
 * Returns the cache key of a candidate's response: a digest of the client's JSON, the upstream
 * request, the provider with its current settings, the model, the protocol and the control headers;
 * with `caching.per_key` also of the caller. The key for a shared cache is equal in each process with
 * equal settings. Null if the response is not cacheable.
 */
export function cacheKey(
  call: Pick<Call, "headers" | "generation" | "caller">,
  inference: Pick<Inference, "matchesAs" | "canonical">,
  { target, request }: Pick<Candidate, "target" | "request">,
  isShared: boolean,
): string | null {
  const canonical = inference.canonical(request);
  if (canonical === null) return null;
  const { provider, model, wire } = target;
  const { config, sharedCachePrefix } = call.generation;
  const namespaces = isShared
    ? [sharedCachePrefix, provider.sharedNamespace]
    : [provider.namespace];
  const controls = CONTROL_HEADERS.map((name) => call.headers.get(name));
  const who = [inference.matchesAs[0], ...namespaces, wire.name, model, request.path];
  const caller = config.caching.per_key ? [call.caller.name] : [];
  // The first part is JSON without line breaks, so the line break marks the start of the second
  // part.
  return createHash("sha256")
    .update(`${JSON.stringify([...who, ...controls, ...caller])}\n`)
    .update(canonical)
    .digest("hex");
}
