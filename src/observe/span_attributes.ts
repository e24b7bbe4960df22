import { type Failure, isServerFailure } from "../core/failure.ts";
import { accessFields } from "./access_log.ts";
import type { Attempt, CallReport } from "./report.ts";

/** Attributes of a span; those that are undefined are left out. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Clients choose names and paths; longer ones are cut to so many characters. */
const LONGEST = 256;

/** `POST /v1/chat/completions` (OpenTelemetry HTTP conventions). */
export function requestName({ method, endpoint }: Readonly<CallReport>): string {
  const word = METHODS.has(method) ? method : "HTTP";
  return endpoint.path === "" ? word : `${word} ${endpoint.path}`;
}

/** What a request was and how it ended; never a prompt, an answer, a key or a query. */
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

/** `chat MODEL` (OpenTelemetry GenAI conventions). */
export function attemptName({ endpoint }: Readonly<CallReport>, { model }: Attempt): string {
  return `${endpoint.operation ?? "call"} ${cut(model)}`;
}

/** What one try at a provider was; `failure` is the kind of what ended it, null when it went well. */
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

/** Whether the span of a request is an error: what the client did wrong is not the server's. */
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
    // The older name of the same, which some backends still read.
    "gen_ai.system": provider,
    "gen_ai.request.model": cut(model),
  };
}

function cut(text: string): string {
  return text.slice(0, LONGEST).toWellFormed();
}
