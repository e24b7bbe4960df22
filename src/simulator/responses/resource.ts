import { newId } from "../../core/ids.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { Deps, ModelOutput } from "../protocol.ts";
import { encodeItem, type OutputItem } from "./output_items.ts";
import type { ResponsesRequest } from "./request.ts";

/** Returns the finished response resource (Responses API, the Response object). */
export function buildResource(
  request: ResponsesRequest,
  output: ModelOutput,
  outputItems: readonly OutputItem[],
  deps: Deps,
): JsonObject {
  const status = statusOf(output);
  return {
    id: newId("resp_", deps),
    object: "response",
    created_at: deps.unix(),
    completed_at: status === "completed" ? deps.unix() : null,
    status,
    error: status === "failed" ? { code: "server_error", message: "Simulated failure." } : null,
    incomplete_details: status === "incomplete" ? { reason: incompleteReason(output) } : null,
    model: request.modelAsSent,
    output: outputItems.map((outputItem, at) =>
      encodeItem(
        outputItem,
        status === "completed" || at < outputItems.length - 1 ? "completed" : "incomplete",
      )
    ),
    ...echoedFields(request),
    usage: encodeUsage(request.inputTokens, output),
  };
}

function statusOf({ finish, quirk }: ModelOutput): string {
  if (quirk?.name === "failed" || quirk?.name === "cancelled") return quirk.name;
  return finish === "length" || finish === "content_filter" ? "incomplete" : "completed";
}

function incompleteReason({ finish }: ModelOutput): string {
  return finish === "content_filter" ? finish : "max_output_tokens";
}

function echoedFields({ body, conversationId }: ResponsesRequest): JsonObject {
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  return {
    background: body.background ?? false,
    ...conversationId !== null && { conversation: { id: conversationId } },
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    presence_penalty: 0,
    frequency_penalty: 0,
    previous_response_id: body.previous_response_id ?? null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: "default",
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: { type: "text" }, ...isObject(body.text) && body.text },
    tool_choice: body.tool_choice ?? "auto",
    tools: Array.isArray(body.tools) ? body.tools.map(withToolDefaults) : [],
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    user: body.user ?? null,
  };
}

function withToolDefaults(tool: JsonValue): JsonValue {
  return isObject(tool) && tool.type === "function"
    ? { description: null, parameters: null, strict: null, ...tool }
    : tool;
}

/** Returns the usage object of a response (Responses API, usage). */
export function encodeUsage(
  input: number,
  { outputTokens, thinking, cache }: ModelOutput,
): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cache.read, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: thinking.length },
    total_tokens: input + outputTokens,
  };
}

/** Returns a response resource before it finished, or after it was cancelled. */
export function unfinishedResource(
  resource: JsonObject,
  status: "queued" | "in_progress" | "cancelled",
): JsonObject {
  const nothing = { completed_at: null, error: null, incomplete_details: null, usage: null };
  return { ...resource, ...nothing, status, output: [] };
}
