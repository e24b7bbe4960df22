import type { HttpResponse, Reply } from "../core/stream/reply.ts";
import type { Call } from "../call/call.ts";
import { type Candidate, type Candidates, type Inference, setCarriage } from "../call/inference.ts";
import { entryBytes } from "../store/response_cache.ts";
import type { SharedCache } from "../store/shared_cache.ts";
import { createHash } from "node:crypto";

/** Result of a cache lookup. */
export interface Lookup {
  /** Cache key of the first candidate. */
  readonly key: string;
  /** The cached response; null for a miss. */
  readonly response: HttpResponse | null;
}

/**
 * Looks up the response for the first candidate; null if the cache is off, the client bypasses it,
 * or the request is not cacheable. Hit or miss is recorded in the report. Only a lookup in a shared
 * cache returns a promise.
 */
export function lookUp(
  call: Call,
  inference: Inference,
  candidates: Candidates,
): Lookup | null | Promise<Lookup> {
  const { generation, controls, state } = call;
  if (!generation.config.caching.enabled || controls.noCache) return null;
  const shared = sharedCacheOf(call);
  const key = cacheKey(call, inference, candidates[0], shared !== null);
  if (key === null) return null;
  const found = (response: HttpResponse | null): Lookup => {
    recordLookup(call, candidates[0], response);
    return { key, response };
  };
  return shared === null ? found(state.cache.get(key)) : shared.get(key, call).then(found);
}

/** Returns the cache in the state store; null if the call uses the cache in memory. */
function sharedCacheOf({ generation, state }: Call): SharedCache | null {
  return generation.config.caching.shared ? state.sharedCache : null;
}

function recordLookup(
  { report, cancellation }: Call,
  first: Candidate,
  response: HttpResponse | null,
): void {
  // A call that is cancelled while the store is queried is neither a hit nor a miss.
  if (cancellation.isCancelled) return;
  report.cache = response === null ? "MISS" : "HIT";
  if (response === null) return;
  const { target } = first;
  report.provider = target.provider.id;
  report.model = target.model;
  // Only a response that kept its promises is stored.
  setCarriage(report, first);
}

/** Reply of a call that missed the cache, with the candidates that could serve it. */
interface Served {
  readonly candidates: Candidates;
  readonly lookup: Lookup;
  readonly reply: Reply;
}

/**
 * Stores the response of a call that missed the cache, under the key of the candidate that served
 * it.
 */
export function remember(
  call: Call,
  inference: Inference,
  { candidates, lookup, reply }: Served,
): void {
  if (reply.kind !== "whole" || reply.response.status !== 200) return;
  if (reply.isCacheable === false) return;
  const served = findServed(call, candidates);
  const shared = sharedCacheOf(call);
  const key = served === candidates[0]
    ? lookup.key
    : cacheKey(call, inference, served, shared !== null);
  if (key === null) return;
  const stored = storableResponse(reply.response);
  if (shared === null) return call.state.cache.set(key, stored);
  const { max_entry_bytes, ttl } = call.generation.config.caching;
  if (entryBytes(key, stored) <= max_entry_bytes) shared.set(key, stored, ttl);
}

/**
 * Returns the candidate that served the call, found by provider and model: the number of fallbacks
 * would not do, because the candidates may begin with a fallback. Candidates of one provider and
 * model share a key.
 */
function findServed({ report }: Call, candidates: Candidates): Candidate {
  const isServer = ({ target }: Candidate) =>
    target.provider.id === report.provider && target.model === report.model;
  return candidates.find(isServer) ?? candidates[0];
}

/**
 * Returns the response with its content type only: other headers belong to one request, such as its
 * ID, its date and a remaining quota.
 */
function storableResponse({ status, headers, body }: HttpResponse): HttpResponse {
  const type = headers["content-type"];
  return { status, headers: type === undefined ? {} : { "content-type": type }, body };
}

/** Client headers that may change the upstream's response. */
const CONTROL_HEADERS = ["compat-beta", "messages-beta", "idempotency-key"] as const;

/**
 * Returns the cache key of a candidate's response: a digest of the client's JSON, the upstream
 * request, the provider with its current settings, the model, the protocol and the control headers;
 * with `caching.per_key` also of the caller. The key for a shared cache is equal in each process
 * with equal settings. Null if the response is not cacheable.
 */
function cacheKey(
  call: Pick<Call, "headers" | "generation" | "caller" | "client">,
  inference: Pick<Inference, "matchesAs" | "canonical">,
  { target, request }: Pick<Candidate, "target" | "request">,
  isShared: boolean,
): string | null {
  const { cachedAs } = request;
  const canonical = inference.canonical(
    cachedAs === undefined ? request : { ...request, payload: cachedAs },
  );
  if (canonical === null) return null;
  const { provider, model, wire, named } = target;
  const { config, sharedCachePrefix } = call.generation;
  const namespaces = isShared
    ? [sharedCachePrefix, provider.sharedNamespace]
    : [provider.namespace];
  const controls = CONTROL_HEADERS.map((name) => call.headers.get(name));
  const who = [inference.matchesAs[0], ...namespaces, wire.name, model, request.path];
  const caller = config.caching.per_key ? [call.caller.name] : [];
  // The name that a response shows may come from a header, and whether it does from the file.
  const shown = named?.preset.showsName === true ? [[named.name]] : [];
  const { privacy } = call.client;
  const rules = privacy === null ? [] : [privacy.policy.digest];
  // The first part is JSON without line breaks, so the line break marks the start of the second
  // part.
  return createHash("sha256")
    .update(`${JSON.stringify([...who, ...controls, ...caller, ...shown, ...rules])}\n`)
    .update(canonical)
    .digest("hex");
}
