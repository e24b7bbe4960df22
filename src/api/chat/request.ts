import type { ChatRequest } from "../../wires/chat_request.ts";
import { newStrictSchemas } from "../../wires/verified/strict_schemas.ts";
import { isObject, type JsonDocument } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import {
  anyObject,
  type Fields,
  flag,
  listOf,
  number,
  objectOf,
  type Shape,
  text,
  typeProblem,
} from "../items/shape.ts";

const list: Shape = { array: "any" };

const choice: Shape = { ...text, ...anyObject };

const call = objectOf({ id: text, type: text, function: anyObject, custom: anyObject });

const MESSAGE: Fields = {
  role: text,
  content: { ...text, ...list, expected: "a string or an array of parts" },
  name: text,
  tool_calls: listOf(call),
  tool_call_id: text,
  refusal: text,
  function_call: anyObject,
  audio: anyObject,
};

const tool = objectOf({ type: text, function: anyObject, custom: anyObject }, "type");

const BODY: Fields = {
  model: text,
  messages: { ...listOf(objectOf(MESSAGE, "role")), isFilled: true },
  stream: flag,
  stream_options: objectOf({ include_usage: flag, include_obfuscation: flag }),
  store: flag,
  metadata: anyObject,
  temperature: number,
  top_p: number,
  top_k: number,
  n: number,
  max_completion_tokens: number,
  max_tokens: number,
  stop: { ...text, ...list, expected: "a string or an array of strings" },
  presence_penalty: number,
  frequency_penalty: number,
  logit_bias: anyObject,
  logprobs: flag,
  top_logprobs: number,
  seed: number,
  tools: listOf(tool),
  tool_choice: choice,
  parallel_tool_calls: flag,
  response_format: objectOf({ type: text, json_schema: anyObject }, "type"),
  reasoning_effort: text,
  verbosity: text,
  modalities: list,
  audio: anyObject,
  prediction: anyObject,
  web_search_options: anyObject,
  service_tier: text,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  prompt_cache_retention: text,
  prompt_cache_options: anyObject,
  moderation: anyObject,
  functions: listOf(objectOf({ name: text }, "name")),
  function_call: choice,
};

/** Types of the known fields. The upstream judges the values. */
const body = objectOf(BODY, "messages");

/** Names of the request fields whose types are checked, and those of a message. */
export const CHECKED_FIELDS = { body: Object.keys(BODY), message: Object.keys(MESSAGE) } as const;

/** Parses a Chat Completions request. A known field of the wrong type is refused by its path. */
export function parseChatRequest(document: JsonDocument): Result<ChatRequest> {
  const { value } = document;
  const problem = typeProblem(body, value);
  if (problem !== null) return problem;
  return success({
    document,
    stream: value.stream === true,
    schemas: newStrictSchemas(),
    includeUsage: isObject(value.stream_options) && value.stream_options.include_usage === true,
  });
}
