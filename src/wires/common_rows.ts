import {
  exact,
  exactBut,
  type FieldRows,
  ignored,
  ignoredBut,
  lossy,
  newFieldTable,
  refusedUnless,
} from "../prompt/field_table.ts";
import type { ChatField } from "../prompt/chat_fields.ts";

/** A mark for an upstream's cache changes no response. */
export const CACHE_HINT = ignoredBut("changes no response");

/** An object that an SDK has parsed from a text. */
const PARSED = ignoredBut("refused if it differs from the text");

/** A field of the message inside a part. */
const REPEATED = ignoredBut("refused if it differs from the message");

/** The same, if only the part has it. */
const LIFTED = exactBut("as that of the message");

/** The other protocols have no names of authors. */
const NAME = lossy("the message");

/** Signatures of another host, which only that host reads. */
const SIGNATURE = lossy("everything else");

/** The grammar of a custom tool that becomes a function. */
export const BRIDGED_GRAMMAR = lossy("its text, in the description of the function");

/** Treatments that most translations of Chat Completions share; a wire's own rows replace them. */
export const COMMON_ROWS = {
  "model": exact,
  "messages": exact,
  // Clients send complete responses back, with fields that hold nothing new.
  "messages[].id": ignored,
  "messages[system]": exact,
  "messages[developer]": exact,
  "messages[system].content": exact,
  "messages[system].content[text]": exact,
  "messages[system].name": NAME,
  "messages[user]": exact,
  "messages[user].content": exact,
  "messages[user].content[text]": exact,
  "messages[user].content[image_url]": exact,
  "messages[user].name": NAME,
  "messages[assistant]": exact,
  "messages[assistant].content": exact,
  "messages[assistant].content[text].text": exact,
  "messages[assistant].content[text].prompt_cache_breakpoint": CACHE_HINT,
  "messages[assistant].content[refusal].refusal": exact,
  "messages[assistant].content[].id": ignored,
  "messages[assistant].content[].parsed": PARSED,
  "messages[assistant].content[].role": REPEATED,
  "messages[assistant].content[].tool_calls": REPEATED,
  "messages[assistant].content[].function_call": REPEATED,
  "messages[assistant].content[].refusal": REPEATED,
  "messages[assistant].content[].reasoning_content": LIFTED,
  "messages[assistant].content[].annotations": LIFTED,
  "messages[assistant].parsed": PARSED,
  "messages[assistant].refusal": exact,
  "messages[assistant].tool_calls[function].id": exact,
  // Clients that assemble a call from stream chunks send its `index` too. The list has the same
  // order, so the index is ignored.
  "messages[assistant].tool_calls[function].index": ignored,
  "messages[assistant].tool_calls[function].function.name": exact,
  "messages[assistant].tool_calls[function].function.arguments": exact,
  "messages[assistant].tool_calls[function].function.parsed_arguments": PARSED,
  "messages[assistant].tool_calls[function].extra_content": SIGNATURE,
  "messages[assistant].extra_content": SIGNATURE,
  "messages[assistant].function_call.name": exact,
  "messages[assistant].function_call.arguments": exact,
  "messages[assistant].reasoning_content": exact,
  "messages[assistant].reasoning": exact,
  "messages[assistant].reasoning_details": SIGNATURE,
  "messages[assistant].annotations": exactBut("web citations"),
  "messages[assistant].annotations[url_citation].url_citation.url": exact,
  "messages[assistant].annotations[url_citation].url_citation.title": exact,
  "messages[assistant].annotations[url_citation].url_citation.start_index": exact,
  "messages[assistant].annotations[url_citation].url_citation.end_index": exact,
  "messages[assistant].name": NAME,
  "messages[tool]": exact,
  "messages[tool].content": exact,
  "messages[tool].content[text]": exact,
  "messages[tool].content[image_url]": exact,
  "messages[tool].tool_call_id": exact,
  // The call already contains the name.
  "messages[tool].name": ignored,
  "messages[function]": exact,
  "messages[function].content": exact,
  "messages[function].name": exactBut("the result belongs to the latest open call of that name"),
  "messages[].content[text].text": exact,
  "messages[].content[text].prompt_cache_breakpoint": CACHE_HINT,
  "messages[].content[image_url].image_url.url": exact,
  "messages[].content[image_url].image_url.detail": exact,
  "messages[].content[image_url].prompt_cache_breakpoint": CACHE_HINT,
  "stream": exact,
  "stream_options": exact,
  "stream_options.include_usage": exactBut("by the gateway"),
  // Translated chunks lose the padding.
  "stream_options.include_obfuscation": refusedUnless(false),
  "max_completion_tokens": exact,
  "max_tokens": exact,
  "temperature": exact,
  "top_p": exact,
  "tools": exact,
  "tools[function]": exact,
  "tools[function].function.name": exact,
  "tools[function].function.description": exact,
  "tools[function].function.parameters": exact,
  "tools[function].function.strict": exact,
  "tool_choice": exact,
  "tool_choice=auto": exact,
  "tool_choice=none": exact,
  "tool_choice=required": exact,
  "tool_choice[function].function.name": exact,
  "parallel_tool_calls": exact,
  "functions": exact,
  "functions[].name": exact,
  "functions[].description": exact,
  "functions[].parameters": exact,
  "functions[].strict": exact,
  "function_call": exact,
  "function_call=auto": exact,
  "function_call=none": exact,
  "function_call.name": exact,
  "response_format": exact,
  "response_format[text]": exact,
  "response_format[json_schema]": exact,
  "response_format[json_schema].json_schema.name": exact,
  "response_format[json_schema].json_schema.description": exact,
  "response_format[json_schema].json_schema.schema": exact,
  "response_format[json_schema].json_schema.strict": exact,
  "reasoning_effort": exact,
  "reasoning": exact,
  "reasoning.effort": exact,
  "prompt_cache_key": CACHE_HINT,
  "prompt_cache_retention": CACHE_HINT,
  "prompt_cache_options": CACHE_HINT,
  "n": refusedUnless(1),
  "stop": refusedUnless([]),
  "metadata": refusedUnless({}),
  "store": refusedUnless(false),
  "frequency_penalty": refusedUnless(0),
  "presence_penalty": refusedUnless(0),
  "logit_bias": refusedUnless({}),
  "logprobs": refusedUnless(false),
  "top_logprobs": refusedUnless(0),
  "modalities": refusedUnless(["text"]),
  "verbosity": refusedUnless("medium"),
  "service_tier": refusedUnless("auto", "default"),
} as const satisfies FieldRows<ChatField>;

/** Rows of the calls of custom tools in an assistant message. */
export const CUSTOM_CALL_ROWS = {
  "messages[assistant].tool_calls[custom].id": exact,
  "messages[assistant].tool_calls[custom].index": ignored,
  "messages[assistant].tool_calls[custom].custom.name": exact,
  "messages[assistant].tool_calls[custom].custom.input": exact,
  "messages[assistant].tool_calls[custom].extra_content": SIGNATURE,
} as const satisfies FieldRows<ChatField>;

/** Rows of custom tools, for protocols that have functions only (`bridgeCustomTools`). */
export const BRIDGED_TOOL_ROWS = {
  ...CUSTOM_CALL_ROWS,
  "messages[assistant].tool_calls[custom].custom.input": exactBut("as the text `input`"),
  "tools[custom]": exactBut("as a function with the text `input`"),
  "tools[custom].custom.name": exact,
  "tools[custom].custom.description": exactBut("says how to pass the input, too"),
  "tools[custom].custom.format[text]": ignored,
  "tools[custom].custom.format[grammar].grammar.definition": BRIDGED_GRAMMAR,
  "tools[custom].custom.format[grammar].grammar.syntax": BRIDGED_GRAMMAR,
  "tool_choice[custom].custom.name": exactBut("as that of a function"),
} as const satisfies FieldRows<ChatField>;

/** Rows of the marks of the Messages API, for protocols that have no place for them. */
export const CACHE_CONTROL_ROWS = {
  "messages[system].cache_control": CACHE_HINT,
  "messages[user].cache_control": CACHE_HINT,
  "messages[assistant].cache_control": CACHE_HINT,
  "messages[assistant].content[text].cache_control": CACHE_HINT,
  "messages[assistant].content[refusal].cache_control": CACHE_HINT,
  "messages[tool].cache_control": CACHE_HINT,
  "messages[].content[text].cache_control": CACHE_HINT,
  "messages[].content[image_url].cache_control": CACHE_HINT,
  "cache_control": CACHE_HINT,
  "cache_control.type": CACHE_HINT,
  "cache_control.ttl": CACHE_HINT,
  "tools[function].cache_control": CACHE_HINT,
} as const satisfies FieldRows<ChatField>;

/** Rows of the citations in a message, for protocols that send the cited text without them. */
export const LOST_CITATION_ROWS = {
  "messages[assistant].content[].annotations": lossy("the text"),
  "messages[assistant].annotations": lossy("the text", "web citations"),
  "messages[assistant].annotations[url_citation].url_citation.url": lossy("the text"),
  "messages[assistant].annotations[url_citation].url_citation.title": lossy("the text"),
  "messages[assistant].annotations[url_citation].url_citation.start_index": lossy("the text"),
  "messages[assistant].annotations[url_citation].url_citation.end_index": lossy("the text"),
} as const satisfies FieldRows<ChatField>;

/** Members of the objects that are parsed for every translation in the same way. */
export const COMMON = newFieldTable<ChatField>({ ...COMMON_ROWS, ...CUSTOM_CALL_ROWS });
