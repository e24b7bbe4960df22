import { createHash } from "node:crypto";
import type { Call } from "../call/call.ts";
import type { Candidate, Inference } from "../call/inference.ts";

/** Client headers that may change what an upstream answers. */
const CONTROL_HEADERS = ["compat-beta", "messages-beta", "idempotency-key"] as const;

/**
 * What the answer to this attempt is cached under: a digest of the client's JSON and of the request
 * it becomes, of the provider as it is now defined, the model, the protocol and the headers that
 * have a say, with `caching.per_key` also of the caller. Null when the answer is not cached.
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
  // Written as JSON the first part has no line break: so it is plain where the second one begins.
  return createHash("sha256")
    .update(`${JSON.stringify([...who, ...controls, ...caller])}\n`)
    .update(canonical)
    .digest("hex");
}
