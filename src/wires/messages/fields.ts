import type { ChatField } from "../../prompt/chat_fields.ts";
import { BRIDGED_TOOL_ROWS, CACHE_HINT, COMMON_ROWS, LOST_CITATION_ROWS } from "../common_rows.ts";
import {
  byWire,
  exact,
  exactBut,
  gated,
  ignored,
  lossy,
  newFieldTable,
  open,
  verified,
} from "../../prompt/field_table.ts";

const OLD_API = "refused with `api_version: 2026-10-21`";

const REASONING = byWire(lossy(
  "stored thinking blocks",
  "without them, the running tool loop continues with thinking off; ignored with `thinking_blocks`",
));

const INSTRUCTION = byWire(lossy(
  "text and order, not the place after other messages",
  "exact at the start",
));

/** Advice for what the gateway must check on the response. */
export const VERIFY = "Use a provider with 'verify: true'.";

/** Treatment of every Chat field by the Messages protocol. */
export const FIELDS = newFieldTable<ChatField>({
  ...COMMON_ROWS,
  ...LOST_CITATION_ROWS,
  ...BRIDGED_TOOL_ROWS,
  "messages[system]": INSTRUCTION,
  "messages[developer]": INSTRUCTION,
  "messages[system].cache_control": exact,
  "messages[user].content[file]": exact,
  "messages[user].cache_control": exact,
  "messages[assistant]": byWire(lossy(
    "everything; as the last message, the model continues its text",
    "exact elsewhere",
  )),
  "messages[assistant].content[text].cache_control": exact,
  "messages[assistant].content[refusal].refusal": lossy("the text"),
  "messages[assistant].content[refusal].cache_control": exact,
  "messages[assistant].content[].reasoning_content": REASONING,
  "messages[assistant].content[].thinking_blocks": exactBut("as that of the message"),
  "messages[assistant].refusal": lossy("the text"),
  // Reasoning without thinking blocks cannot be sent, because its signature is unknown. Next to
  // blocks it only repeats them.
  "messages[assistant].reasoning_content": REASONING,
  "messages[assistant].reasoning": REASONING,
  "messages[assistant].thinking_blocks": exact,
  "messages[assistant].thinking_blocks[thinking].thinking": exact,
  "messages[assistant].thinking_blocks[thinking].signature": exact,
  "messages[assistant].thinking_blocks[redacted_thinking].data": exact,
  "messages[assistant].cache_control": exact,
  "messages[tool].content[file]": exact,
  "messages[tool].cache_control": exact,
  "messages[function].content[image_url]": exact,
  "messages[].content[text].cache_control": exact,
  "messages[].content[image_url].image_url.detail": byWire(lossy(
    "the image at full size",
    "`auto` is ignored; values other than `auto` and `high` are refused",
  )),
  "messages[].content[image_url].cache_control": exact,
  "messages[].content[file].file.file_data": exactBut("a PDF or a text in UTF-8"),
  "messages[].content[file].file.filename": exact,
  "messages[].content[file].prompt_cache_breakpoint": CACHE_HINT,
  "messages[].content[file].cache_control": exact,
  "cache_control": exact,
  "cache_control.type": exactBut("`ephemeral`"),
  "cache_control.ttl": exactBut("`5m` and `1h`"),
  "temperature": exactBut(`0 to 1; above 1, refused; ${OLD_API}`),
  "top_p": exactBut(OLD_API),
  "top_k": exactBut(OLD_API),
  "stop": exactBut("a text without a visible character is verified"),
  "tools[function].cache_control": exact,
  "tool_choice=required": exactBut("refused together with `thinking`"),
  "tool_choice[function].function.name": exactBut("refused together with `thinking`"),
  "tool_choice[custom].custom.name": exactBut(
    "as that of a function; refused together with `thinking`",
  ),
  "response_format[text]": open(ignored),
  "response_format[json_object]": open(byWire(verified())),
  "response_format[json_schema]": open(gated("structured_outputs")),
  // They are only labels.
  "response_format[json_schema].json_schema.name": lossy("the schema"),
  "response_format[json_schema].json_schema.description": lossy("the schema"),
  "response_format[json_schema].json_schema.schema": exactBut(
    "without `strict: true`, objects without `additionalProperties: false` are closed, which is lossy; " +
      "with it they are refused; if the root lists no properties, only that it is an object is verified",
  ),
  "response_format[json_schema].json_schema.strict": byWire(lossy(
    "the schema, which is always enforced",
    "`true` is verified",
  )),
  "reasoning_effort": gated("reasoning_effort", "`none` and `minimal` are refused"),
  "reasoning.effort": gated("reasoning_effort", "`none` and `minimal` are refused"),
  "thinking": exact,
  "thinking[adaptive]": gated("adaptive_thinking"),
  "thinking[adaptive].display": gated("adaptive_thinking"),
  "thinking[disabled]": exact,
  "user": exactBut("at most 256 characters"),
  "safety_identifier": exactBut("at most 256 characters; refused if it differs from `user`"),
  "service_tier": exactBut("`auto` and `default`; other values are refused"),
});
