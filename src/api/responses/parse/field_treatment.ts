import type { ChatField } from "../../../prompt/chat_fields.ts";
import {
  exact,
  ignored,
  ignoredBut,
  lossy,
  type Treatment,
  treatmentOf,
} from "../../../prompt/field_table.ts";
import { BRIDGED_GRAMMAR } from "../../../wires/common_rows.ts";
import type { Wire } from "../../../wires/wire.ts";
import { HINTS, IDENTITIES } from "./parse_options.ts";
import { RESPONSES_FIELDS, type ResponsesField } from "./fields.ts";

/** The Chat field that carries a field, whose treatment by the wire counts too. */
export const CHAT_FIELD: Readonly<Partial<Record<ResponsesField, ChatField>>> = {
  "model": "model",
  "instructions": "messages[system].content",
  "input": "messages",
  "input[message].role=user": "messages[user]",
  "input[message].role=system": "messages[system]",
  "input[message].role=developer": "messages[developer]",
  "input[message].role=assistant": "messages[assistant]",
  "input[message].content": "messages[user].content",
  "input[message].content[input_text].text": "messages[].content[text].text",
  "input[message].content[input_image].image_url": "messages[].content[image_url].image_url.url",
  "input[message].content[input_image].detail": "messages[].content[image_url].image_url.detail",
  "input[message].content[input_file].file_id": "messages[].content[file].file.file_id",
  "input[message].content[input_file].filename": "messages[].content[file].file.filename",
  "input[message].content[input_file].file_data": "messages[].content[file].file.file_data",
  "input[message].content[input_file].detail": "messages[].content[file].file.file_data",
  "input[message].content[input_file].prompt_cache_breakpoint":
    "messages[].content[file].file.file_data",
  "input[message].content[output_text].text": "messages[assistant].content[text].text",
  "input[message].content[refusal].refusal": "messages[assistant].refusal",
  "input[function_call].call_id": "messages[assistant].tool_calls[function].id",
  "input[function_call].name": "messages[assistant].tool_calls[function].function.name",
  "input[function_call].arguments": "messages[assistant].tool_calls[function].function.arguments",
  "input[function_call].namespace": "messages[assistant].tool_calls[function].function.name",
  "input[function_call_output].call_id": "messages[tool].tool_call_id",
  "input[function_call_output].output": "messages[tool].content",
  "input[function_call_output].output[input_text]": "messages[tool].content[text]",
  "input[function_call_output].output[input_file]": "messages[tool].content[file]",
  "input[custom_tool_call].call_id": "messages[assistant].tool_calls[custom].id",
  "input[custom_tool_call].name": "messages[assistant].tool_calls[custom].custom.name",
  "input[custom_tool_call].input": "messages[assistant].tool_calls[custom].custom.input",
  "input[custom_tool_call].namespace": "messages[assistant].tool_calls[custom].custom.name",
  "input[custom_tool_call_output].call_id": "messages[tool].tool_call_id",
  "input[custom_tool_call_output].output": "messages[tool].content",
  "input[custom_tool_call_output].output[input_text]": "messages[tool].content[text]",
  "input[custom_tool_call_output].output[input_file]": "messages[tool].content[file]",
  "input[additional_tools].tools": "tools",
  "input[reasoning].content": "messages[assistant].reasoning_content",
  "input[reasoning].summary": "messages[assistant].reasoning_content",
  "input[reasoning].encrypted_content": "messages[assistant].thinking_blocks",
  "stream": "stream",
  "stream_options": "stream_options",
  "tools": "tools",
  "tools[function].name": "tools[function].function.name",
  "tools[function].description": "tools[function].function.description",
  "tools[function].parameters": "tools[function].function.parameters",
  "tools[function].strict": "tools[function].function.strict",
  "tools[custom].name": "tools[custom].custom.name",
  "tools[custom].description": "tools[custom].custom.description",
  "tools[custom].format[text]": "tools[custom].custom.format[text]",
  "tools[custom].format[grammar].definition":
    "tools[custom].custom.format[grammar].grammar.definition",
  "tools[custom].format[grammar].syntax": "tools[custom].custom.format[grammar].grammar.syntax",
  "tools[namespace].name": "tools[function].function.name",
  "tools[namespace].description": "tools[function].function.description",
  "tools[namespace].tools": "tools[function]",
  "tool_choice": "tool_choice",
  "tool_choice=auto": "tool_choice=auto",
  "tool_choice=none": "tool_choice=none",
  "tool_choice=required": "tool_choice=required",
  "tool_choice[function].name": "tool_choice[function].function.name",
  "tool_choice[custom].name": "tool_choice[custom].custom.name",
  "tool_choice[allowed_tools].mode": "tool_choice[allowed_tools].allowed_tools.mode",
  "tool_choice[allowed_tools].tools": "tool_choice[allowed_tools].allowed_tools.tools",
  "parallel_tool_calls": "parallel_tool_calls",
  "max_output_tokens": "max_completion_tokens",
  "temperature": "temperature",
  "top_p": "top_p",
  "presence_penalty": "presence_penalty",
  "frequency_penalty": "frequency_penalty",
  "text": "response_format",
  "text.format[json_object]": "response_format[json_object]",
  "text.format[json_schema].name": "response_format[json_schema].json_schema.name",
  "text.format[json_schema].description": "response_format[json_schema].json_schema.description",
  "text.format[json_schema].schema": "response_format[json_schema].json_schema.schema",
  "text.format[json_schema].strict": "response_format[json_schema].json_schema.strict",
  "text.verbosity": "verbosity",
  "reasoning": "reasoning",
  "reasoning.effort": "reasoning_effort",
  "service_tier": "service_tier",
  "user": "user",
  "safety_identifier": "safety_identifier",
  "prompt_cache_key": "prompt_cache_key",
  "prompt_cache_retention": "prompt_cache_retention",
  "prompt_cache_options": "prompt_cache_options",
};

/** Treatments of the fields that a function cannot carry, for a provider without custom tools. */
const BRIDGED_OVER_COMPAT: Readonly<Partial<Record<ResponsesField, Treatment>>> = {
  "tools[custom].format[text]": ignored,
  "tools[custom].format[grammar].definition": BRIDGED_GRAMMAR,
  "tools[custom].format[grammar].syntax": BRIDGED_GRAMMAR,
};

/** Returns the treatment of a request field by the translation to Chat and the wire after it. */
export function translatedTreatment(path: ResponsesField, wire: Wire): Treatment {
  const own = treatmentOf(RESPONSES_FIELDS, path);
  const isHint = HINTS.compat.includes(path) && !HINTS[wire.name].includes(path);
  if (isHint) {
    return IDENTITIES.includes(path)
      ? lossy("the value in the response")
      : ignoredBut("changes no response, which repeats it");
  }
  const bridged = wire.name === "compat" ? BRIDGED_OVER_COMPAT[path] : undefined;
  if (bridged !== undefined) return { ...bridged, note: "exact with `capabilities.custom_tools`" };
  if (wire.name === "messages") {
    // Its results hold images and files.
    if (/^input\[\w+_call_output\]\.output\[input_/.test(path)) return exact;
    // Only the thinking of the current turn counts there.
    if (path === "reasoning.context=current_turn") return ignored;
    if (path === "reasoning.context=all_turns") return lossy("the reasoning of the current turn");
  }
  // Wires that check signatures get the signed thinking, others its text.
  if (path === "input[reasoning].encrypted_content" && wire.name !== "messages") {
    return lossy("the text of the reasoning", "only of this gateway");
  }
  const chat = CHAT_FIELD[path];
  if (chat === undefined) return own;
  const after = treatmentOf(wire.fields, chat);
  if (after.kind === "refused") return after;
  if (own.kind === "refused" || own.kind === "ignored") return own;
  const notes = [own.note, after.note].filter((note) => note !== undefined);
  const noted = notes.length > 0 && { note: notes.join("; ") };
  return { ...(own.kind === "exact" ? after : own), ...noted };
}
