import { inputItem, part } from "../items/item_shapes.ts";
import {
  anyObject,
  byType,
  flag,
  listOf,
  mapOf,
  number,
  objectOf,
  type Shape,
  text,
  texts,
  whole,
} from "../items/shape.ts";
import { tool, toolChoice } from "../items/tool_shapes.ts";

const moderationConfig = objectOf({ mode: text });

/** Documented types of the fields in a request to create a response (Responses API). */
export const responsesBody: Shape = objectOf({
  model: text,
  input: { ...text, ...listOf(inputItem) },
  instructions: text,
  stream: flag,
  stream_options: objectOf({ include_obfuscation: flag }),
  store: flag,
  previous_response_id: text,
  conversation: { ...text, ...objectOf({ id: text }) },
  background: flag,
  tools: listOf(tool),
  tool_choice: toolChoice,
  parallel_tool_calls: flag,
  max_tool_calls: whole,
  max_output_tokens: whole,
  temperature: number,
  top_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  top_logprobs: whole,
  text: objectOf({
    format: byType({
      json_schema: { name: text, description: text, schema: anyObject, strict: flag },
    }),
    verbosity: text,
  }),
  reasoning: objectOf({
    effort: text,
    summary: text,
    generate_summary: text,
    mode: text,
    context: text,
  }),
  truncation: text,
  include: texts,
  "include[]": texts,
  // Values are checked by `metadataOf`, whose refusal is more specific.
  metadata: anyObject,
  client_metadata: anyObject,
  prompt: objectOf({ id: text, version: text, variables: mapOf({ ...text, ...part }) }),
  context_management: listOf(objectOf({ type: text, compact_threshold: whole })),
  service_tier: text,
  user: text,
  safety_identifier: text,
  prompt_cache_key: text,
  prompt_cache_retention: text,
  prompt_cache_options: objectOf({ ttl: text, mode: text }),
  moderation: objectOf({
    model: text,
    policy: objectOf({ input: moderationConfig, output: moderationConfig }),
  }),
});
