import * as z from "zod";
import type { ChatRequest } from "../../wires/chat_request.ts";
import { newStrictSchemas } from "../../wires/verified/strict_schemas.ts";
import { isObject, type JsonDocument, type JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import { either, flag, list, map, number, object, text } from "../items/field_kinds.ts";
import { checkFields } from "../items/fields.ts";

const call = z.looseObject({ id: text, type: text, function: object, custom: object });

const message = z.looseObject({
  role: z.string(),
  content: either("a string or an array of parts", "string", "array"),
  name: text,
  tool_calls: z.array(call).nullish(),
  tool_call_id: text,
  refusal: text,
  function_call: object,
  audio: object,
});

const tool = z.looseObject({ type: z.string(), function: object, custom: object });

const chatBody = z.looseObject({
  model: text,
  messages: z.array(message).min(1),
  stream: flag,
  stream_options: z.looseObject({ include_usage: flag, include_obfuscation: flag }).nullish(),
  store: flag,
  metadata: map,
  temperature: number,
  top_p: number,
  top_k: number,
  n: number,
  max_completion_tokens: number,
  max_tokens: number,
  stop: either("a string or an array of strings", "string", "array"),
  presence_penalty: number,
  frequency_penalty: number,
  logit_bias: map,
  logprobs: flag,
  top_logprobs: number,
  seed: number,
  tools: z.array(tool).nullish(),
  tool_choice: either("a string or an object", "string", "object"),
  parallel_tool_calls: flag,
  response_format: z.looseObject({ type: z.string(), json_schema: object }).nullish(),
  reasoning_effort: text,
  verbosity: text,
  modalities: list,
  audio: object,
  prediction: object,
  web_search_options: object,
  service_tier: text,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  prompt_cache_retention: text,
  prompt_cache_options: object,
  moderation: object,
  functions: z.array(z.looseObject({ name: z.string() })).nullish(),
  function_call: either("a string or an object", "string", "object"),
});

/** Names of the request fields whose types are checked, and those of a message. */
export const CHECKED_FIELDS = {
  body: Object.keys(chatBody.shape),
  message: Object.keys(message.shape),
} as const;

const withoutMessages = chatBody.omit({ messages: true });

/**
 * True if each message is only a role and a text, as in most requests: a schema check takes far
 * longer.
 */
function isPlain(messages: unknown): boolean {
  return Array.isArray(messages) && messages.length > 0 &&
    messages.every((message) =>
      isObject(message) && typeof message.role === "string" &&
      typeof message.content === "string" &&
      Object.keys(message).length === 2
    );
}

/**
 * The type of each field whose schema accepts any value of one type; null for other checked fields.
 */
const PLAIN_TYPES: ReadonlyMap<string, "string" | "number" | "boolean" | null> = new Map(
  Object.entries(chatBody.shape).map(([name, schema]) => [
    name,
    schema === text ? "string" : schema === number ? "number" : schema === flag ? "boolean" : null,
  ]),
);

/**
 * True if the body has plain messages, and of the checked fields only those of a plain type, as in
 * most requests: a schema check takes far longer.
 */
function isPlainBody(body: JsonObject): boolean {
  if (!isPlain(body.messages)) return false;
  for (const name in body) {
    if (name === "messages") continue;
    const type = PLAIN_TYPES.get(name);
    if (type === undefined) continue;
    const field = body[name];
    if (typeof field !== type || (type === "number" && !Number.isFinite(field))) return false;
  }
  return true;
}

/** Parses a Chat Completions request. A known field of the wrong type is refused by its path. */
export function parseChatRequest(document: JsonDocument): Result<ChatRequest> {
  const { value } = document;
  const problem = isPlainBody(value)
    ? null
    : checkFields(isPlain(value.messages) ? withoutMessages : chatBody, value);
  if (problem !== null) return problem;
  return success({
    document,
    stream: value.stream === true,
    schemas: newStrictSchemas(),
    includeUsage: isObject(value.stream_options) && value.stream_options.include_usage === true,
  });
}
