import type { ChatField } from "../../prompt/chat_fields.ts";
import { CACHE_CONTROL_ROWS, CACHE_HINT, COMMON_ROWS, CUSTOM_CALL_ROWS } from "../common_rows.ts";
import {
  advised,
  byWire,
  exact,
  exactBut,
  gated,
  lossy,
  needing,
  newFieldTable,
  verified,
} from "../../prompt/field_table.ts";

const KEPT = lossy("stored encrypted reasoning");

const REASONING = byWire(KEPT);

/** Treatment of every Chat field by the Responses protocol. */
export const FIELDS = newFieldTable<ChatField>({
  ...COMMON_ROWS,
  ...CUSTOM_CALL_ROWS,
  ...CACHE_CONTROL_ROWS,
  "metadata": exact,
  "service_tier": exact,
  "user": exact,
  "safety_identifier": exact,
  "prompt_cache_key": exact,
  "prompt_cache_retention": exact,
  "prompt_cache_options": exact,
  "moderation": exact,
  "messages[user].content[file]": exact,
  // A text has no ID that the upstream knows.
  "messages[assistant].reasoning_content": REASONING,
  "messages[assistant].reasoning": REASONING,
  // Only the provider that has signed them reads them.
  "messages[assistant].thinking_blocks": KEPT,
  "messages[assistant].thinking_blocks[thinking].thinking": KEPT,
  "messages[assistant].thinking_blocks[thinking].signature": KEPT,
  "messages[assistant].thinking_blocks[redacted_thinking].data": KEPT,
  "messages[assistant].content[].thinking_blocks": KEPT,
  "messages[assistant].content[].reasoning_content": REASONING,
  "messages[tool].content[file]": exact,
  "messages[function].content[image_url]": exact,
  "messages[].content[text].prompt_cache_breakpoint": exact,
  "messages[].content[image_url].prompt_cache_breakpoint": exact,
  "messages[].content[file].file.file_id": exact,
  "messages[].content[file].file.filename": exact,
  "messages[].content[file].file.file_data": exact,
  "messages[].content[file].prompt_cache_breakpoint": exact,
  "messages[].content[file].cache_control": CACHE_HINT,
  "max_completion_tokens": exactBut("below 16, refused"),
  "max_tokens": byWire(
    lossy("`max_completion_tokens`", "exact alone, or equal to it; below 16, refused"),
  ),
  "tools[custom]": exact,
  "tools[custom].custom.name": exact,
  "tools[custom].custom.description": exact,
  "tools[custom].custom.format[text]": exact,
  "tools[custom].custom.format[grammar].grammar.definition": exact,
  "tools[custom].custom.format[grammar].grammar.syntax": exact,
  "tool_choice[custom].custom.name": exact,
  "tool_choice[allowed_tools].allowed_tools.mode": exact,
  "tool_choice[allowed_tools].allowed_tools.tools": exact,
  "stop": advised(verified("without `logprobs`", []), "Use a provider with 'verify: true'."),
  "response_format[json_object]": exact,
  "verbosity": exact,
  "logprobs": exact,
  "top_logprobs": exact,
  "web_search_options": needing(
    "web_search",
    gated("hosted_tools", "with `web_search` in the list"),
  ),
  "web_search_options.search_context_size": exact,
  "web_search_options.user_location[approximate].approximate.country": exact,
  "web_search_options.user_location[approximate].approximate.region": exact,
  "web_search_options.user_location[approximate].approximate.city": exact,
  "web_search_options.user_location[approximate].approximate.timezone": exact,
});
