import { type Failure, isServerFailure } from "../../core/failure/failure.ts";
import { roundedMs } from "../access_log.ts";
import { type Attempt, type CallReport, endOf, retriesOf } from "../report.ts";
import type { AttemptFacts, RequestSettings } from "./attempt_facts.ts";
import type { AttributeValue } from "./bounds.ts";
import type { SpanAttribute } from "./conventions.ts";

/** Attributes of a span before they are bounded; undefined attributes are omitted. */
export type SpanAttributes = Partial<Record<SpanAttribute, AttributeValue | undefined>>;

/** Facts of a provider that the spans of its attempts have. */
export interface SpanProvider {
  /** Well-known name, or the ID of the provider. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Providers whose spans have the attributes of the OpenAI API. */
const OPENAI_NAMES = new Set(["openai", "azure.ai.openai"]);

/**
 * Returns the span name of a request: `POST /v1/chat/completions` (OpenTelemetry HTTP conventions).
 */
export function requestName({ method, endpoint }: Readonly<CallReport>): string {
  const word = METHODS.has(method) ? method : "HTTP";
  return endpoint.path === "" ? word : `${word} ${endpoint.path}`;
}

/**
 * Returns the attributes of a request span: never a prompt, a response body, a key or a query. The
 * `gen_ai.*` attributes are those of its attempts.
 */
export function requestAttributes(report: Readonly<CallReport>): SpanAttributes {
  const { failure, cost, cache, client, ms } = report;
  return {
    "http.request.method": METHODS.has(report.method) ? report.method : "_OTHER",
    "http.route": report.endpoint.path === "" ? undefined : report.endpoint.path,
    "http.response.status_code": report.status,
    "url.scheme": "http",
    "url.path": report.path,
    "error.type": failure?.kind,
    "switchyard.request_id": report.id,
    "switchyard.route": report.route ?? undefined,
    "switchyard.client": client ?? undefined,
    "switchyard.stream": report.stream,
    "switchyard.time_to_first_token_ms": roundedMs(ms.firstToken) ?? undefined,
    "switchyard.cache": cache ?? undefined,
    "switchyard.retries": retriesOf(report.attempts).length,
    "switchyard.fallback": report.fallbacks > 0,
    "switchyard.cost_usd": cost ?? undefined,
    "switchyard.end": endOf(report),
    "switchyard.lossy": report.lossy,
    "switchyard.verified": report.verified,
  };
}

/**
 * Returns the span name of an attempt: `chat MODEL` (OpenTelemetry GenAI conventions); `call`
 * without a model, as for files.
 */
export function attemptName({ endpoint }: Readonly<CallReport>, { model }: Attempt): string {
  return `${endpoint.operation ?? "call"} ${model}`.trimEnd();
}

/** Facts of an attempt span besides the record of its attempt. */
export interface AttemptEnd {
  /** Null after a success. */
  readonly failure: Failure["kind"] | null;
  /** Null if the attempt did not begin. */
  readonly facts: AttemptFacts | null;
  /** Null if the configuration does not have it any more. */
  readonly provider: SpanProvider | null;
}

/** Returns the attributes of an attempt span. */
export function attemptAttributes(
  report: Readonly<CallReport>,
  one: Attempt,
  { failure, facts, provider }: AttemptEnd,
): SpanAttributes {
  const { operation } = report.endpoint;
  return {
    ...operation !== null && inferenceAttributes(report, one, operation, { facts, provider }),
    "server.address": provider?.host,
    "server.port": provider?.port,
    "http.response.status_code": facts?.status ?? undefined,
    "error.type": failure ?? undefined,
    "switchyard.provider": one.provider,
    "switchyard.provider_key": one.key ?? undefined,
    "switchyard.try": one.number,
    "switchyard.route": report.route ?? undefined,
    "switchyard.cause": one.cause ?? undefined,
  };
}

/**
 * True if the span of a request is an error. By the HTTP conventions a server span with a status
 * below 500 for the client is none, also where a provider has responded with it; a stream that
 * breaks off is one.
 */
export function isFailed({ failure, status }: Readonly<CallReport>): boolean {
  return failure !== null && isServerFailure(failure) && !(status >= 400 && status < 500);
}

/** Returns the attributes of an attempt that calls a model. */
function inferenceAttributes(
  report: Readonly<CallReport>,
  { model, provider: id, firstContentMs }: Attempt,
  operation: string,
  { facts, provider }: Pick<AttemptEnd, "facts" | "provider">,
): SpanAttributes {
  const name = provider?.name ?? id;
  const request: Partial<RequestSettings> = facts?.request ?? {};
  const { response, finishReasons } = facts ?? {};
  const usage = facts?.usage() ?? null;
  const { choices, serviceTier } = request;
  return {
    "gen_ai.operation.name": operation,
    "gen_ai.provider.name": name,
    "gen_ai.request.model": model,
    "gen_ai.request.max_tokens": request.maxTokens,
    "gen_ai.request.temperature": request.temperature,
    "gen_ai.request.top_p": request.topP,
    "gen_ai.request.top_k": request.topK,
    "gen_ai.request.frequency_penalty": request.frequencyPenalty,
    "gen_ai.request.presence_penalty": request.presencePenalty,
    "gen_ai.request.seed": request.seed,
    "gen_ai.request.choice.count": choices === 1 ? undefined : choices,
    "gen_ai.request.stream": request.isStream === true ? true : undefined,
    // A chat may have any text there.
    "gen_ai.request.encoding_formats": operation === "embeddings"
      ? request.encodingFormats
      : undefined,
    "gen_ai.output.type": outputType(report, request.isJson === true),
    "gen_ai.conversation.id": conversationId(report),
    "gen_ai.response.model": response?.model,
    "gen_ai.response.id": response?.id,
    "gen_ai.response.finish_reasons": finishReasons,
    "gen_ai.response.time_to_first_chunk": firstContentMs === undefined
      ? undefined
      : firstContentMs / 1_000,
    "gen_ai.embeddings.dimension.count": response?.dimensions,
    "gen_ai.usage.input_tokens": usage?.unknown === "input" ? undefined : usage?.input,
    // The 0 of embeddings, which have no output, is no count of the provider.
    "gen_ai.usage.output_tokens": usage?.unknown === "output" || operation === "embeddings"
      ? undefined
      : usage?.output,
    // Providers that report zero and those that report nothing are not distinguished.
    "gen_ai.usage.cache_read.input_tokens": usage?.cached || undefined,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWrite || undefined,
    "gen_ai.usage.reasoning.output_tokens": usage?.reasoning || undefined,
    ...OPENAI_NAMES.has(name) && {
      "openai.api.type": apiType(facts?.path ?? ""),
      "openai.request.service_tier": serviceTier === "auto" ? undefined : serviceTier,
      "openai.response.service_tier": response?.serviceTier,
      "openai.response.system_fingerprint": response?.fingerprint,
    },
  };
}

/** Returns the conversation of a call, else its session; that without a source is a user's ID. */
function conversationId(
  { conversation, session, sessionFrom }: Readonly<CallReport>,
): string | undefined {
  return conversation ?? (sessionFrom === null ? undefined : session ?? undefined);
}

function outputType({ endpoint }: Readonly<CallReport>, isJson: boolean): string | undefined {
  if (endpoint.path.startsWith("/v1/images/")) return "image";
  if (endpoint.path === "/v1/audio/speech") return "speech";
  return isJson ? "json" : undefined;
}

/** Returns the API of OpenAI that serves this path below the base address. */
function apiType(path: string): string | undefined {
  if (path.includes("/responses")) return "responses";
  return path.includes("/chat/completions") ? "chat_completions" : undefined;
}
