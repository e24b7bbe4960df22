import type { ErrorFormat } from "./failure/error_format.ts";
import { openaiErrors } from "./failure/openai_error.ts";

/**
 * Families of endpoints that only a provider of type compat serves: the values of
 * `capabilities.relay`.
 */
export const RELAY_FAMILIES = [
  "completions",
  "moderations",
  "images",
  "audio",
  "files",
  "batches",
  "rerank",
] as const;

/** A family of relayed endpoints. */
export type RelayFamily = (typeof RELAY_FAMILIES)[number];

/** Kinds of requests that routes serve, with the path under which each is matched. */
export const ROUTED_PATHS = {
  chat_completions: "/v1/chat/completions",
  responses: "/v1/responses",
  messages: "/v1/messages",
  embeddings: "/v1/embeddings",
  // The request type of a relayed endpoint is its path.
  "/v1/completions": "/v1/completions",
  "/v1/moderations": "/v1/moderations",
  "/v1/rerank": "/v1/rerank",
  "/v1/images/generations": "/v1/images/generations",
  "/v1/images/edits": "/v1/images/edits",
  "/v1/images/variations": "/v1/images/variations",
  "/v1/audio/speech": "/v1/audio/speech",
  "/v1/audio/transcriptions": "/v1/audio/transcriptions",
  "/v1/audio/translations": "/v1/audio/translations",
} as const;

/** The value of `x-gateway-request-type` in `match.headers` of a route. */
export type RequestType = keyof typeof ROUTED_PATHS;

/** Every request type, for checks and messages. */
export const REQUEST_TYPES: readonly string[] = Object.keys(ROUTED_PATHS);

/** True if the text is a request type. */
export function isRequestType(text: unknown): text is RequestType {
  return typeof text === "string" && REQUEST_TYPES.includes(text);
}

/**
 * Names of the client APIs whose endpoints a client key may use or not, in exported events, logs
 * and `security.api_key.keys[].endpoints`.
 */
export const ENDPOINT_NAMES = [
  "chat_completions",
  "responses",
  "conversations",
  "embeddings",
  "models",
  "messages",
  ...RELAY_FAMILIES,
] as const;

/** Name of a client API. */
export type EndpointName = (typeof ENDPOINT_NAMES)[number];

/** Facts of a call's endpoint for error responses, logs, metrics, spans and the dashboard. */
export interface EndpointFacts {
  /**
   * Registered path without parameter patterns: the `endpoint` label. Empty if no endpoint matched.
   */
  readonly path: string;
  /**
   * Name of the client API in exported events; null for operational endpoints and unknown paths.
   */
  readonly api: EndpointName | null;
  /** `gen_ai.operation.name` (OpenTelemetry GenAI conventions); null if no model is called. */
  readonly operation: "chat" | "embeddings" | "text_completion" | "generate_content" | null;
  /**
   * True if calls of a model with a price have a cost, which is unknown if the provider reports no
   * use.
   */
  readonly isBilled: boolean;
  /** True if a response holds model output; false if it echoes client input. */
  readonly sharesAnswer: boolean;
  /** Error format of the client API. */
  readonly errors: ErrorFormat;
}

/** The facts of a path that no endpoint serves. */
export const UNKNOWN_ENDPOINT: EndpointFacts = {
  path: "",
  api: null,
  operation: null,
  isBilled: false,
  sharesAnswer: false,
  errors: openaiErrors,
};
