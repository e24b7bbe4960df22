import type { ChatField } from "../../prompt/chat_fields.ts";
import type { EmbeddingsField } from "../embeddings_fields.ts";
import { exact, exactBut, gated, lossy, newFieldTable } from "../../prompt/field_table.ts";
import {
  BRIDGED_TOOL_ROWS,
  CACHE_CONTROL_ROWS,
  COMMON_ROWS,
  LOST_CITATION_ROWS,
} from "../common_rows.ts";

/**
 * Treatment of every Chat field by the Chat Completions protocol: the client's own text is sent.
 */
export const FIELDS = newFieldTable<ChatField>({
  "messages[developer]": exactBut("`system` with `normalize_developer_role`"),
  "tools[custom]": exactBut("the host of a profile gets a function, unless it has `custom_tools`"),
  "stream_options.include_usage": exactBut("the gateway always requests usage in streams"),
}, exact);

/** Signed thinking is of another host. */
const THINKING = lossy("`reasoning_content`");

/**
 * Treatment of every Chat field of a request with custom tools by a host that has none: the request
 * is translated, and what a prompt does not have is refused.
 */
export const BRIDGED_FIELDS = newFieldTable<ChatField>({
  ...COMMON_ROWS,
  ...LOST_CITATION_ROWS,
  ...CACHE_CONTROL_ROWS,
  ...BRIDGED_TOOL_ROWS,
  "messages[assistant].thinking_blocks": THINKING,
  "messages[assistant].content[].thinking_blocks": THINKING,
  "messages[user].content[file]": exact,
  "messages[].content[file].file.file_data": exact,
  "messages[].content[file].file.file_id": exact,
  "messages[].content[file].file.filename": exact,
  "tool_choice[allowed_tools].allowed_tools.mode": exact,
  "tool_choice[allowed_tools].allowed_tools.tools": exact,
  "response_format[json_object]": exact,
  "stop": exact,
  "top_k": exact,
  "seed": exact,
  "frequency_penalty": exact,
  "presence_penalty": exact,
  "verbosity": exact,
  "service_tier": exact,
  "user": exact,
  "safety_identifier": exact,
  "prompt_cache_key": exact,
  "prompt_cache_retention": exact,
  "prompt_cache_options": exact,
});

/** Treatment of every field of an embeddings request by a compat provider. */
export const EMBEDDINGS = newFieldTable<EmbeddingsField>({
  "model": exact,
  "input": exact,
  "input=tokens": exact,
  "encoding_format": exact,
  "encoding_format=base64": gated("embeddings_base64"),
  "dimensions": exact,
  "user": exact,
});
