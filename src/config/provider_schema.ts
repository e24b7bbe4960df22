import * as z from "zod";
import { RELAY_FAMILIES } from "../core/endpoint.ts";
import { urlProblem } from "./address.ts";
import { credentialSchema } from "./credential_schema.ts";
import { isNeverPassed } from "./passed_headers.ts";
import {
  decimal,
  duration,
  flag,
  headerName,
  headerValue,
  integer,
  section,
  text,
} from "./fields.ts";

/** The pattern of a provider ID, of any length. */
export const PROVIDER_ID = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Values of `providers.*.type`. */
export const PROVIDER_TYPES = ["compat", "messages", "local"] as const;

const providerKey = section({
  name: z.string().regex(/^[A-Za-z0-9._-]+$/, {
    error: "must be a name of letters, digits, dots, underscores and hyphens",
  }).describe("Unique name of the key within the provider, for logs."),
  value: z.string().regex(/^[\x20-\x7e]+$/, {
    error: "must be one line of printable ASCII characters that is not empty",
  }).optional().describe("Upstream credential, normally ${NAME}; required without credential."),
  credential: credentialSchema.optional()
    .describe("A credential that is replaced ahead of its end, instead of value."),
  weight: integer(0).prefault(1)
    .describe("Relative share of requests; 0 uses the key only for the objects that it created."),
  models: z.array(text()).min(1).optional()
    .describe("Patterns of the upstream models that the key serves; all by default."),
});

const baseUrl = z.string().superRefine((written, context) => {
  const problem = urlProblem(written) ??
    (written.includes("#") ? "must not contain a fragment" : null);
  if (problem !== null) context.addIssue({ code: "custom", message: problem });
});

const words = z.array(z.string()).transform((written) => {
  const known = written.map((word) => word.trim().toLowerCase()).filter((word) => word !== "");
  return [...new Set(known)];
});

const capabilities = section({
  chat_completions_lifecycle: flag().prefault(false)
    .describe(
      "The provider stores Chat Completions: list, retrieve, update, delete, messages (type compat).",
    ),
  responses_lifecycle: flag().prefault(false)
    .describe("The provider stores its Responses: retrieve, delete, input items (type compat)."),
  conversations: flag().prefault(false)
    .describe("The provider has the Conversations API (type compat)."),
  background_responses: flag().prefault(false)
    .describe("The provider accepts background: true for Responses (type compat)."),
  response_cancellation: flag().prefault(false)
    .describe("The provider can cancel a running Response (type compat)."),
  response_compaction: flag().prefault(false)
    .describe("The provider can compact the input of a Response (type compat)."),
  response_input_tokens: flag().prefault(false)
    .describe("The provider can count the input tokens of a Response (type compat)."),
  structured_outputs: flag().prefault(false)
    .describe(
      "The provider accepts a JSON Schema for its response. Type compat: only for clients of the " +
        "Messages API.",
    ),
  reasoning_effort: flag().prefault(false)
    .describe(
      "The provider accepts a reasoning effort. Type compat: only for clients of the Messages API.",
    ),
  reasoning_effort_levels: words.prefault([])
    .describe("Permitted effort levels; if empty: low, medium and high."),
  adaptive_thinking: flag().prefault(false)
    .describe("The provider accepts thinking.type adaptive (type messages)."),
  custom_tools: flag().prefault(false)
    .describe(
      "The provider takes custom tools (type compat); if false, they become functions. Those of Chat " +
        "clients become functions only with a profile.",
    ),
  embeddings_base64: flag().prefault(false)
    .describe("The provider can return embeddings in base64 (type compat)."),
  relay: z.array(z.enum(RELAY_FAMILIES)).optional()
    .describe(
      "Endpoints that are relayed to the upstream (type compat); none by default, all for the ID " +
        "openai with its built-in address.",
    ),
  hosted_tools: words.prefault([])
    .describe("Hosted tool types that native Responses may use, such as web_search (type compat)."),
});

const models = section({
  mode: z.enum(["translator", "static", "fetch"]).default("translator")
    .describe("Source of the model list."),
  static: z.array(text()).default([])
    .describe("Models listed in mode static; an empty list lists none."),
  fetch: section({
    ttl: duration(1).prefault("10m")
      .describe("Time for which a fetched list is cached."),
  }).prefault({}).describe("Settings of mode fetch."),
});

const tls = section({
  ca_file: text().optional()
    .describe(
      "PEM file of certificate authorities that are trusted in addition to the default ones.",
    ),
  cert_file: text().optional()
    .describe("PEM file of the client certificate; requires key_file."),
  key_file: text().optional()
    .describe(
      "PEM file of the client certificate's private key, not encrypted; requires cert_file.",
    ),
  server_name: text().optional()
    .describe(
      "Server name for SNI and certificate verification, if it is not the host of base_url.",
    ),
});

/** Schema of one provider in the file, without the defaults of its type. */
export const providerSchema = section({
  type: z.enum(PROVIDER_TYPES).optional()
    .describe("Protocol of the upstream; inferred for the IDs openai, anthropic and ollama."),
  api_key: z.string()
    .regex(/^[\x20-\x7e]*$/, { error: "must be one line of printable ASCII characters" })
    .optional()
    .describe("Upstream credential, normally ${NAME}; an empty text means no credential."),
  api_keys: z.array(providerKey).min(1).optional()
    .describe(
      "Upstream credentials that share the requests, instead of api_key. A key that the upstream " +
        "refuses rests, and the next one is tried at once.",
    ),
  credential: credentialSchema.optional()
    .describe(
      "A credential that is replaced ahead of its end, instead of api_key; requests never wait for it.",
    ),
  key_rest: duration(1).prefault("1m")
    .describe(
      "Time for which a key of api_keys rests after status 401, 402 or 403, or 429 without Retry-After; " +
        "the most after one response.",
    ),
  key_affinity: z.enum(["none", "session"]).default("none")
    .describe(
      "session: the requests of one session stay with one key of api_keys, for providers whose keys have " +
        "prompt caches of their own; the weights share the sessions. none: the weights share the requests, " +
        "because the keys of one organization mostly share a cache.",
    ),
  base_url: baseUrl.optional()
    .describe(
      "Upstream address; has a default for the IDs openai, anthropic, ollama and for type messages. " +
        "A query in it is sent with every call.",
    ),
  default_model: text().optional()
    .describe("Model if neither the target nor the request names one; also listed in /v1/models."),
  temperature: decimal(0).optional()
    .describe("Sampling temperature if the request has none."),
  top_p: decimal(0, 1).optional()
    .describe("Nucleus sampling probability if the request has none."),
  top_k: integer(0).optional()
    .describe("Number of candidate tokens if the request has none (type local)."),
  organization: z.string().optional()
    .describe("Organization header of upstream requests (type compat)."),
  api_version: z.string().optional()
    .describe("Version header of the Messages API; default 2023-06-01 (type messages)."),
  timeout: duration(1).prefault("120s")
    .describe(
      "Deadline of one attempt; timeout_mode says whether it covers the first byte or the whole response.",
    ),
  timeout_mode: z.enum(["ttft", "total", "last_byte"]).default("ttft")
    .transform((mode) => mode === "ttft" ? mode : "total")
    .describe(
      "ttft: timeout ends with the first byte of the response body; total, last_byte: with its last byte.",
    ),
  first_content_timeout: duration(1).optional()
    .describe(
      "Time limit from the start of an attempt to the first content of a stream (text, reasoning, a tool call), " +
        "not to a role or a ping; no limit by default. Whole responses ignore it.",
    ),
  connect_timeout: duration(1).prefault("10s")
    .describe("Time limit for DNS, TCP and TLS together, until a new connection is open."),
  keep_alive: duration(0).prefault("4s")
    .describe(
      "Time for which an idle connection is reused if the server's Keep-Alive header names none; " +
        "0s disables reuse.",
    ),
  stream_idle_timeout: duration(1).prefault("300s")
    .describe("Maximum silence between two reads of a response body, whole or streamed."),
  tls: tls.optional()
    .describe(
      "TLS settings of this provider. File names are relative to the configuration file; the files " +
        "are read at start and on every reload.",
    ),
  max_concurrent: integer(1).optional()
    .describe(
      "Maximum number of concurrent attempts at this provider in this process; no limit by default. " +
        "A stream counts until its last byte.",
    ),
  max_queued: integer(0).prefault(0)
    .describe("Maximum number of requests that wait for a free slot of max_concurrent."),
  queue_timeout: duration(1).prefault("30s")
    .describe("Maximum time a request waits for a free slot of max_concurrent."),
  compatibility_profile: z.string().optional()
    .describe(
      "Host whose differences from the protocol of the OpenAI API are bridged: gemini, deepseek, openrouter, " +
        "groq or vllm (type compat). Keys that are set at the provider win.",
    ),
  normalize_developer_role: flag().optional()
    .describe(
      "Send developer messages as system messages; default true with the deepseek profile (type compat).",
    ),
  system_messages: z.enum(["in_place", "leading"]).default("in_place")
    .describe(
      "System messages behind the first other message: in_place sends them unchanged; leading makes " +
        "each a part of the user message next to it, after a line [system], for chat templates that " +
        "allow system messages only at the head.",
    ),
  prompt_cache_key: z.enum(["pass", "session"]).default("pass")
    .describe(
      "session: requests in which the client has set no prompt_cache_key get a digest of their session, so " +
        "that the provider sends a conversation to the machine that has its beginning in the cache (type " +
        "compat). pass: nothing is added, because not every host accepts the field.",
    ),
  cache_breakpoints: z.enum(["none", "auto"]).default("none")
    .describe(
      "auto: translated requests without cache_control get up to four breakpoints, at the tools, the system " +
        "text and the last two user messages (type messages). none: nothing is added, because what is written to " +
        "the cache costs more than other input.",
    ),
  extract_reasoning_tags: flag().prefault(false)
    .describe("Move complete <think> regions of responses to reasoning_content."),
  verify: flag().prefault(true)
    .describe(
      "Check responses for request fields that the protocol cannot enforce, such as strict functions; " +
        "false refuses such requests instead.",
    ),
  headers: z.record(headerName(), headerValue()).transform(lowerCased).prefault({})
    .describe("Static headers of every upstream request; credentials override them."),
  pass_headers: z.array(passedHeader()).prefault([])
    .describe(
      "Names of further response headers that clients receive, besides content-*, retry-after, rate limits, " +
        "request IDs, openai-*, anthropic-*, x-ms-*, cf-ray and server-timing. Refused are those of one " +
        "connection or content coding, of the gateway, and those that apply to its whole origin, such as set-cookie.",
    ),
  extra: z.record(z.string(), z.preprocess(writtenOut, z.string())).prefault({})
    .describe(
      "Type-specific settings: max_tokens, the default of type messages and for the other types the " +
        "most that a Messages client may request; runtime options (local).",
    ),
  models: models.prefault({}).describe("Model discovery."),
  capabilities: capabilities.prefault({}).describe("Features of the upstream; never inferred."),
});

function passedHeader() {
  return headerName().transform((name) => name.toLowerCase())
    .refine((name) => !isNeverPassed(name), { error: "is never passed on from a provider" });
}

// Header names are not case-sensitive: lower case makes them unique when headers are merged.
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

// Users write `max_tokens: 4096`, so a number is accepted as its decimal text.
function writtenOut(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}
