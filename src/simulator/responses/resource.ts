import { newId } from "../../core/ids.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json.ts";
import type { Script, Stage } from "../voice.ts";
import { itemOf, type Part } from "./parts.ts";
import type { Question } from "./question.ts";

/** The response as it is in the end (Responses API, the Response object). */
export function resourceOf(
  question: Question,
  script: Script,
  parts: readonly Part[],
  stage: Stage,
): JsonObject {
  const status = statusOf(script);
  return {
    id: newId("resp_", stage),
    object: "response",
    created_at: stage.unix(),
    completed_at: status === "completed" ? stage.unix() : null,
    status,
    error: status === "failed" ? { code: "server_error", message: "Simulated failure." } : null,
    incomplete_details: status === "incomplete" ? { reason: reasonOf(script) } : null,
    model: question.ask.shownModel,
    output: parts.map((part, at) =>
      itemOf(part, status === "completed" || at < parts.length - 1 ? "completed" : "incomplete")
    ),
    ...echoOf(question),
    usage: usageOf(question.ask.input, script),
  };
}

function statusOf({ finish, quirk }: Script): string {
  if (quirk?.name === "failed" || quirk?.name === "cancelled") return quirk.name;
  return finish === "length" || finish === "content_filter" ? "incomplete" : "completed";
}

function reasonOf({ finish }: Script): string {
  return finish === "content_filter" ? finish : "max_output_tokens";
}

function echoOf({ body, conversation }: Question): JsonObject {
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  return {
    background: body.background ?? false,
    ...conversation !== null && { conversation: { id: conversation } },
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
    tools: Array.isArray(body.tools) ? body.tools.map(toolOf) : [],
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    user: body.user ?? null,
  };
}

function toolOf(tool: JsonValue): JsonValue {
  return isObject(tool) && tool.type === "function"
    ? { description: null, parameters: null, strict: null, ...tool }
    : tool;
}

/** The usage of an answer (Responses API, usage). */
export function usageOf(input: number, { output, thinking }: Script): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinking.length },
    total_tokens: input + output,
  };
}

/** The same response before it is over, or when it was cancelled. */
export function unfinished(
  resource: JsonObject,
  status: "queued" | "in_progress" | "cancelled",
): JsonObject {
  const nothing = { completed_at: null, error: null, incomplete_details: null, usage: null };
  return { ...resource, ...nothing, status, output: [] };
}
