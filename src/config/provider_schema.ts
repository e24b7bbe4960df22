import { z } from "zod";
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

/** The words of `providers.*.type`. */
export const PROVIDER_TYPES = ["compat", "messages", "local"] as const;

const baseUrl = z.string().superRefine((written, context) => {
  const problem = urlProblem(written) ??
    (written.includes("#") ? "must not hold a fragment" : null);
  if (problem !== null) context.addIssue({ code: "custom", message: problem });
});

/** The problem of an address that may hold neither query nor fragment; null when it has none. */
export function addressProblem(written: string): string | null {
  return urlProblem(written) ??
    (/[?#]/.test(written) ? "must not hold a query or a fragment" : null);
}

function urlProblem(written: string): string | null {
  const url = URL.parse(written);
  return url !== null && /^https?:$/.test(url.protocol)
    ? null
    : "must be an absolute URL that begins with http:// or https://";
}

const words = z.array(z.string()).transform((written) => {
  const known = written.map((word) => word.trim().toLowerCase()).filter((word) => word !== "");
  return [...new Set(known)];
});

const capabilities = section({
  chat_completions_lifecycle: flag().prefault(false)
    .describe("A compat upstream keeps stored Chat Completions and gives them back."),
  responses_lifecycle: flag().prefault(false)
    .describe("A compat upstream keeps its Responses: retrieve, delete, input items."),
  conversations: flag().prefault(false)
    .describe("A compat upstream keeps Conversations itself."),
  background_responses: flag().prefault(false)
    .describe("A compat upstream makes Responses in the background."),
  response_cancellation: flag().prefault(false)
    .describe("A compat upstream can cancel a running Response."),
  response_compaction: flag().prefault(false)
    .describe("A compat upstream can compact the input of a Response."),
  response_input_tokens: flag().prefault(false)
    .describe("A compat upstream can count the input tokens of a Response."),
  structured_outputs: flag().prefault(false)
    .describe("The upstream takes a JSON Schema for its answer."),
  reasoning_effort: flag().prefault(false)
    .describe("The upstream takes a reasoning effort."),
  reasoning_effort_levels: words.prefault([])
    .describe("Permitted effort levels; when empty: low, medium and high."),
  adaptive_thinking: flag().prefault(false)
    .describe("A messages upstream takes thinking of type adaptive."),
  embeddings_base64: flag().prefault(false)
    .describe("A compat upstream can answer embeddings in base64."),
  hosted_tools: words.prefault([])
    .describe("Types of hosted tools that native Responses may use, such as web_search."),
});

const models = section({
  mode: z.enum(["translator", "static", "fetch"]).default("translator")
    .describe("Where the list of models comes from."),
  static: z.array(text()).default([])
    .describe("The models listed in mode static; an empty list lists none."),
  fetch: section({
    ttl: duration(1).prefault("10m")
      .describe("How long a fetched list is used."),
  }).prefault({}).describe("How mode fetch works."),
});

const tls = section({
  ca_file: text().optional()
    .describe("PEM file of certificates that are trusted beside the usual ones."),
  cert_file: text().optional()
    .describe("PEM file of the client certificate; needs key_file."),
  key_file: text().optional()
    .describe("PEM file of the client certificate's private key, not encrypted; needs cert_file."),
  server_name: text().optional()
    .describe("Name that the server's certificate must have, when it is not the one in base_url."),
});

/** One provider as it is written in the file; what its type decides is still open. */
export const providerSchema = section({
  type: z.enum(PROVIDER_TYPES).optional()
    .describe("The protocol of the upstream; known for the IDs openai, anthropic and ollama."),
  api_key: z.string()
    .regex(/^[\x20-\x7e]*$/, { error: "must be one line of printable ASCII characters" })
    .optional()
    .describe("The upstream credential; an empty one is none."),
  base_url: baseUrl.optional()
    .describe(
      "The upstream address; known for the IDs openai, anthropic, ollama and type messages. " +
        "A query in it is sent with every call.",
    ),
  default_model: text().optional()
    .describe("The model when neither the target nor the request names one."),
  temperature: decimal(0).optional()
    .describe("The sampling temperature when the request gives none."),
  top_p: decimal(0, 1).optional()
    .describe("The nucleus sampling share when the request gives none."),
  top_k: integer(0).optional()
    .describe("The number of candidate tokens when the request gives none (type local)."),
  organization: z.string().optional()
    .describe("The organization that is sent along (type compat)."),
  api_version: z.string().optional()
    .describe("The version of the Messages API, 2023-06-01 unless given (type messages)."),
  timeout: duration(1).prefault("120s")
    .describe("How long one attempt may take."),
  timeout_mode: z.enum(["ttft", "total", "last_byte"]).default("ttft")
    .transform((mode) => mode === "ttft" ? mode : "total")
    .describe(
      "Whether timeout covers the first byte (ttft) or the whole answer (total, last_byte).",
    ),
  connect_timeout: duration(1).prefault("10s")
    .describe("Longest time for DNS, TCP and TLS together, until a new connection is open."),
  keep_alive: duration(0).prefault("4s")
    .describe(
      "How long an idle connection is kept when the server's Keep-Alive header names no time; " +
        "0s uses none twice.",
    ),
  stream_idle_timeout: duration(1).prefault("300s")
    .describe("Longest silence within an answer, whole or streamed, once its body has begun."),
  tls: tls.optional()
    .describe(
      "TLS of this provider; file names are relative to the configuration file, and the files " +
        "are read at the start and on every reload.",
    ),
  max_concurrent: integer(1).optional()
    .describe(
      "The most attempts that run at this provider at once, in this process; no limit unless given. " +
        "A stream runs until its last byte.",
    ),
  max_queued: integer(0).prefault(0)
    .describe("The most requests that wait while max_concurrent attempts run."),
  queue_timeout: duration(1).prefault("30s")
    .describe("The longest wait of a request for one of the max_concurrent attempts to end."),
  compatibility_profile: z.string().optional()
    .describe("Known quirks of a compat upstream: deepseek is the one profile (type compat)."),
  normalize_developer_role: flag().optional()
    .describe(
      "Send developer messages as system messages; on under the deepseek profile (type compat).",
    ),
  extract_reasoning_tags: flag().prefault(false)
    .describe("Move complete <think> regions of answers to reasoning_content."),
  headers: z.record(headerName(), headerValue()).transform(lowerCased).prefault({})
    .describe("Static headers of every upstream request; credentials win over them."),
  extra: z.record(z.string(), z.preprocess(writtenOut, z.string())).prefault({})
    .describe("Settings of one type: max_tokens for messages, options of the runtime for local."),
  models: models.prefault({}).describe("How the models of the provider are listed."),
  capabilities: capabilities.prefault({}).describe("What the upstream can do; never guessed."),
});

// Upper case means nothing in a header name; so each name stands once, whoever adds to them.
function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

// `max_tokens: 4096` is the natural way to write it, so a number stands for its digits.
function writtenOut(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}
