import { type Failure, isServerFailure } from "../core/failure/failure.ts";
import { accessFields } from "./access_log.ts";
import type { Attempt, CallReport } from "./report.ts";

/** Attributes of a span; undefined attributes are omitted. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Maximum length of a name or path, which clients choose; longer ones are cut. */
const MAX_ATTRIBUTE_CHARS = 256;

/**
 * Returns the span name of a request: `POST /v1/chat/completions` (OpenTelemetry HTTP conventions).
 */
export function requestName({ method, endpoint }: Readonly<CallReport>): string {
  const word = METHODS.has(method) ? method : "HTTP";
  return endpoint.path === "" ? word : `${word} ${endpoint.path}`;
}

/** Returns the attributes of a request span: never a prompt, a response body, a key or a query. */
export function requestAttributes(report: Readonly<CallReport>): SpanAttributes {
  const { usage, failure, provider, model, cost } = report;
  const { retries, fallback, cache, client, end, ttft_ms } = accessFields(report);
  return {
    "http.request.method": METHODS.has(report.method) ? report.method : "_OTHER",
    "http.route": report.endpoint.path === "" ? undefined : report.endpoint.path,
    "http.response.status_code": report.status,
    "url.path": cut(report.path),
    "error.type": failure?.kind,
    ...modelAttributes(report, provider, model),
    "gen_ai.usage.input_tokens": usage?.input,
    "gen_ai.usage.output_tokens": usage?.output,
    "gen_ai.usage.cache_read.input_tokens": usage?.cached,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWrite,
    "switchyard.request_id": report.id,
    "switchyard.route": report.route ?? undefined,
    "switchyard.client": client ?? undefined,
    "switchyard.stream": report.stream,
    "switchyard.time_to_first_token_ms": ttft_ms ?? undefined,
    "switchyard.cache": cache ?? undefined,
    "switchyard.retries": retries ?? undefined,
    "switchyard.fallback": fallback ?? undefined,
    "switchyard.cost_usd": cost ?? undefined,
    "switchyard.end": end ?? undefined,
  };
}

/** Returns the span name of an attempt: `chat MODEL` (OpenTelemetry GenAI conventions). */
export function attemptName({ endpoint }: Readonly<CallReport>, { model }: Attempt): string {
  return `${endpoint.operation ?? "call"} ${cut(model)}`;
}

/** Returns the attributes of an attempt span; `failure` is null after a success. */
export function attemptAttributes(
  report: Readonly<CallReport>,
  one: Attempt,
  failure: Failure["kind"] | null,
): SpanAttributes {
  return {
    ...modelAttributes(report, one.provider, one.model),
    "error.type": failure ?? undefined,
    "switchyard.try": one.number,
  };
}

/** True if the span of a request is an error; client errors are not errors of a server span. */
export function isFailed({ failure }: Readonly<CallReport>): boolean {
  return failure !== null && isServerFailure(failure);
}

function modelAttributes(
  { endpoint }: Readonly<CallReport>,
  provider: string | null,
  model: string | null,
): SpanAttributes {
  if (provider === null || model === null) return {};
  return {
    "gen_ai.operation.name": endpoint.operation ?? undefined,
    "gen_ai.provider.name": provider,
    // Older name of gen_ai.provider.name, which some backends still read.
    "gen_ai.system": provider,
    "gen_ai.request.model": cut(model),
  };
}

function cut(text: string): string {
  return text.slice(0, MAX_ATTRIBUTE_CHARS).toWellFormed();
}
