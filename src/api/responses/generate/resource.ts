import type { Usage } from "../../../core/stream/events.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import type { ResponsesRequest } from "../request.ts";

/** Fields of a generated response that stay the same from its first event to its last. */
export interface ResponseLabels {
  /** `resp_` and 32 hexadecimal digits. */
  readonly id: string;
  /** Creation time in seconds since 1970. */
  readonly created: number;
  /** Requested model, used until the upstream reports its own. */
  readonly model: string;
  /** Request whose options are repeated in the Response object. */
  readonly request: ResponsesRequest;
  readonly newId: (prefix: string) => string;
  readonly unix: () => number;
}

/** Fields of a generated response that change from its first event to its last. */
export interface ResponseState {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed";
  readonly model: string;
  readonly completedAt: number | null;
  readonly incompleteReason: string | null;
  readonly error: JsonObject | null;
  readonly output: JsonObject[];
  /** Token counts; null if the upstream reports none. */
  readonly usage: Usage | null;
}

/** Names of service tiers (Responses API, the Response object). */
const TIERS: readonly unknown[] = [
  "auto",
  "default",
  "flex",
  "scale",
  "priority",
  "fast",
  "ultrafast",
];

/**
 * Creates a function that builds the Response object of each state. It has every field that some
 * client requires. Options absent from the request have their default (Responses API, the Response
 * object; Open Responses).
 */
export function newResourceBuilder(labels: ResponseLabels): (state: ResponseState) => JsonObject {
  const options = echoOptions(labels.request);
  return ({ status, model, completedAt, incompleteReason, error, output, usage }) => ({
    id: labels.id,
    object: "response",
    created_at: labels.created,
    completed_at: completedAt,
    status,
    error,
    incomplete_details: incompleteReason === null ? null : { reason: incompleteReason },
    model,
    output,
    ...options,
    ...TIERS.includes(usage?.serviceTier) && { service_tier: usage?.serviceTier },
    usage: encodeUsage(usage),
  });
}

function echoOptions(request: ResponsesRequest): JsonObject {
  const { exact: body } = request;
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  return {
    background: false,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: request.previousResponseId,
    ...request.conversation !== null && { conversation: { id: request.conversation } },
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    store: request.store,
    temperature: body.temperature ?? 1,
    top_p: body.top_p ?? 1,
    presence_penalty: body.presence_penalty ?? 0,
    frequency_penalty: body.frequency_penalty ?? 0,
    top_logprobs: 0,
    text: echoText(body.text),
    tool_choice: body.tool_choice ?? "auto",
    tools: Array.isArray(body.tools) ? body.tools.map(echoTool) : [],
    truncation: "disabled",
    metadata: body.metadata ?? {},
    service_tier: body.service_tier ?? "default",
    safety_identifier: body.safety_identifier ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    user: body.user ?? null,
    // Some clients reject null in these fields.
    ...echoMember("prompt_cache_retention", body),
    ...echoMember("prompt_cache_options", body),
  };
}

function echoMember(key: string, body: JsonObject): JsonObject {
  const value = body[key] ?? null;
  return value === null ? {} : { [key]: value };
}

function echoText(option: JsonValue | undefined): JsonObject {
  const text = isObject(option) ? option : {};
  const verbosity = text.verbosity ?? null;
  return { format: text.format ?? { type: "text" }, ...verbosity !== null && { verbosity } };
}

/**
 * Returns a tool with all optional members of a function, which clients read; `strict` defaults to
 * false.
 */
function echoTool(tool: JsonValue): JsonValue {
  if (!isObject(tool)) return tool;
  if (tool.type === "namespace" && Array.isArray(tool.tools)) {
    return { ...tool, description: tool.description ?? "", tools: tool.tools.map(echoTool) };
  }
  if (tool.type !== "function") return tool;
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? false,
  };
}

/**
 * Returns token counts as the `usage` of a Response, always with details; null if a count is
 * unknown, because the object has no notation for that.
 */
function encodeUsage(usage: Usage | null): JsonObject | null {
  if (usage === null || usage.unknown !== undefined) return null;
  return {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: usage.cached, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.total,
  };
}
