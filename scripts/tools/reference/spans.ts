import type { SpanAttribute } from "../../../src/observe/spans/conventions.ts";
import { generatedNote, tableText } from "./markdown.ts";

/** How strongly the conventions ask for an attribute; `own` for those of this program. */
type Requirement = "required" | "conditional" | "recommended" | "own";

/** One attribute of spans. */
interface AttributeDoc {
  readonly on: "request" | "attempt" | "both";
  readonly requirement: Requirement;
  readonly text: string;
}

/** The attributes of spans, by name. */
export const SPAN_DOCS: Readonly<Record<SpanAttribute, AttributeDoc>> = {
  "http.request.method": on("request", "required", "Method; _OTHER for one that is not known."),
  "http.route": on("request", "conditional", "Registered path of the endpoint."),
  "http.response.status_code": on(
    "both",
    "conditional",
    "Status for the client; on an attempt the status of the provider.",
  ),
  "url.scheme": on("request", "required", "`http`: the gateway itself serves no TLS."),
  "url.path": on("request", "required", "Path of the request, without its query."),
  "error.type": on("both", "conditional", "Kind of the failure; absent after a success."),
  "server.address": on("attempt", "recommended", "Host of the base address."),
  "server.port": on("attempt", "conditional", "Port of the base address."),
  "gen_ai.operation.name": on(
    "attempt",
    "required",
    "`chat`, `embeddings`, `text_completion` or `generate_content`; without it the attempt has no `gen_ai.*`.",
  ),
  "gen_ai.provider.name": on(
    "attempt",
    "required",
    "As `telemetry.provider_names` says, else the well-known name of the host, else `anthropic` for type messages, else the ID.",
  ),
  "gen_ai.request.model": on("attempt", "conditional", "Model in the request to the provider."),
  "gen_ai.request.max_tokens": setting("Limit of output tokens"),
  "gen_ai.request.temperature": setting("Temperature"),
  "gen_ai.request.top_p": setting("`top_p`"),
  "gen_ai.request.top_k": on("attempt", "conditional", "`top_k` in the request as it was sent."),
  "gen_ai.request.frequency_penalty": setting("`frequency_penalty`"),
  "gen_ai.request.presence_penalty": setting("`presence_penalty`"),
  "gen_ai.request.seed": on("attempt", "conditional", "`seed` in the request as it was sent."),
  "gen_ai.request.choice.count": on("attempt", "conditional", "Number of choices, unless it is 1."),
  "gen_ai.request.stream": on("attempt", "conditional", "True if the provider was to stream."),
  "gen_ai.request.encoding_formats": on("attempt", "recommended", "Formats of embeddings."),
  "gen_ai.output.type": on(
    "attempt",
    "conditional",
    "`json` if the request asks for it, `image`, `speech`.",
  ),
  "gen_ai.conversation.id": on(
    "attempt",
    "conditional",
    "`conversation` of a Responses request, else the session of the call, as in the log; no ID of a user.",
  ),
  "gen_ai.response.model": on("attempt", "recommended", "Model in the provider's response."),
  "gen_ai.response.id": on("attempt", "recommended", "ID in the provider's response."),
  "gen_ai.response.finish_reasons": on(
    "attempt",
    "recommended",
    "Why the choices ended, in the provider's words; at most 8.",
  ),
  "gen_ai.response.time_to_first_chunk": on(
    "attempt",
    "recommended",
    "Seconds from the beginning of the attempt to the first content of its stream.",
  ),
  "gen_ai.embeddings.dimension.count": on("attempt", "recommended", "Length of the first vector."),
  "gen_ai.usage.input_tokens": tokens("Input tokens with those of the prompt cache"),
  "gen_ai.usage.output_tokens": tokens("Output tokens"),
  "gen_ai.usage.cache_read.input_tokens": tokens("Input tokens from the prompt cache"),
  "gen_ai.usage.cache_creation.input_tokens": tokens("Input tokens put into the prompt cache"),
  "gen_ai.usage.reasoning.output_tokens": tokens(
    "Output tokens of reasoning, unless there are none",
  ),
  "openai.api.type": on(
    "attempt",
    "recommended",
    "`chat_completions` or `responses`; only at providers with the name openai or azure.ai.openai, as the next three.",
  ),
  "openai.request.service_tier": on(
    "attempt",
    "conditional",
    "Requested tier, unless auto; texts that are no word are absent.",
  ),
  "openai.response.service_tier": on(
    "attempt",
    "conditional",
    "Tier in the response, by the same rule.",
  ),
  "openai.response.system_fingerprint": on(
    "attempt",
    "recommended",
    "Fingerprint in the response.",
  ),
  "switchyard.request_id": own("request", "Value of `X-Gateway-Request-ID`."),
  "switchyard.route": own("both", "Route of the call."),
  "switchyard.client": own("request", "Client key of the call."),
  "switchyard.stream": own("request", "True if the client requested a stream."),
  "switchyard.time_to_first_token_ms": own("request", "Milliseconds to the first token."),
  "switchyard.cache": own("request", "HIT or MISS, if the response cache was asked."),
  "switchyard.retries": own("request", "Number of retries."),
  "switchyard.fallback": own("request", "True if a fallback was tried."),
  "switchyard.cost_usd": own("request", "Cost of the call in USD."),
  "switchyard.end": own("request", "How the call ended, as in the log."),
  "switchyard.lossy": own("request", "Paths in `X-Gateway-Lossy`; at most 16."),
  "switchyard.verified": own("request", "Paths in `X-Gateway-Verified`; at most 16."),
  "switchyard.provider": own("attempt", "ID of the provider in the file."),
  "switchyard.provider_key": own("attempt", "Name of the key in a pool."),
  "switchyard.try": own("attempt", "Number of the attempt at its target, from 1."),
  "switchyard.cause": own("attempt", "Cause of a failed connection."),
};

function on(
  on: AttributeDoc["on"],
  requirement: Requirement,
  text: string,
): AttributeDoc {
  return { on, requirement, text };
}

function setting(what: string): AttributeDoc {
  return on("attempt", "recommended", `${what} in the request as it was sent.`);
}

function tokens(what: string): AttributeDoc {
  return on(
    "attempt",
    "recommended",
    `${what}, as the provider has reported them for the attempt.`,
  );
}

function own(on: AttributeDoc["on"], text: string): AttributeDoc {
  return { on, requirement: "own", text };
}

/** Returns the page `docs/reference/spans.md`. */
export function spansPage(): string {
  const rows = Object.entries(SPAN_DOCS).map(([name, { on, requirement, text }]) => [
    `\`${name}\``,
    on === "both" ? "request, attempt" : on,
    requirement === "own" ? "" : requirement,
    text,
  ]);
  return `# Spans

${generatedNote("`scripts/tools/reference/spans.ts`")}

A call is one span of kind SERVER, and each attempt at a provider one of kind CLIENT below it. The names
are those of OpenTelemetry 1.45, besides \`switchyard.*\`. Attributes that do not apply are absent; texts are
at most 256 characters long, lists have at most 16 elements. [Tracing](../operate/tracing.md) explains how
to get them.

${tableText(["attribute", "on", "asked for", "value"], rows)}
`;
}
