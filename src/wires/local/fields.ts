import type { ChatField } from "../../prompt/chat_fields.ts";
import type { EmbeddingsField } from "../embeddings_fields.ts";
import {
  BRIDGED_TOOL_ROWS,
  CACHE_CONTROL_ROWS,
  COMMON_ROWS,
  LOST_CITATION_ROWS,
} from "../common_rows.ts";
import {
  advised,
  byWire,
  exact,
  exactBut,
  gated,
  ignored,
  lossy,
  newFieldTable,
  open,
  refused,
  refusedBut,
  refusedUnless,
  verified,
} from "../../prompt/field_table.ts";

/** The runtime has one text and a list of images for each message. */
const IMAGE = byWire(
  lossy("text and images, not the place of an image in the text", "exact without text"),
);

const PENALTY = exactBut("-2 to 2");

/** The whole schema is sent, but the runtime shows the model only some of its keywords. */
const SCHEMA = byWire(
  lossy("the keywords that the runtime shows the model", "the whole schema is sent"),
);

const NO_THINKING = refusedBut("`[]` is ignored");

const STRICT = byWire(advised(
  verified("a schema that can be checked", false),
  "Send 'strict: false', or use a provider with 'verify: true'.",
));

const CHOICE = advised(
  verified(),
  "The provider cannot force a tool call; send 'auto', or use a provider with 'verify: true'.",
);

/** Treatment of every Chat field by the protocol of local runtimes. */
export const FIELDS = newFieldTable<ChatField>({
  ...COMMON_ROWS,
  ...LOST_CITATION_ROWS,
  ...CACHE_CONTROL_ROWS,
  ...BRIDGED_TOOL_ROWS,
  "messages[user].content[image_url]": IMAGE,
  "messages[assistant].content[refusal].refusal": lossy("the text"),
  "messages[assistant].refusal": lossy("the text"),
  "messages[assistant].thinking_blocks": NO_THINKING,
  "messages[assistant].content[].thinking_blocks": NO_THINKING,
  "messages[tool].content[image_url]": IMAGE,
  "messages[function].name": exact,
  "messages[].content[image_url].image_url.url": exactBut("a `data:` URL in base64"),
  "messages[].content[image_url].image_url.detail": refusedUnless("auto", "high"),
  "top_k": exact,
  "stop": exact,
  "seed": exactBut("a negative seed is refused"),
  "presence_penalty": PENALTY,
  "frequency_penalty": PENALTY,
  "tools[function].function.parameters": SCHEMA,
  "tools[function].function.strict": STRICT,
  "functions[].parameters": SCHEMA,
  "functions[].strict": STRICT,
  // The runtime enforces no choice.
  "tool_choice=auto": ignored,
  "tool_choice=required": CHOICE,
  "tool_choice[function].function.name": CHOICE,
  "tool_choice[custom].custom.name": CHOICE,
  "tool_choice[allowed_tools].allowed_tools.mode": CHOICE,
  "tool_choice[allowed_tools].allowed_tools.tools": CHOICE,
  "function_call=auto": ignored,
  "function_call.name": CHOICE,
  "parallel_tool_calls": byWire(advised(
    verified("ignored without tools", true),
    "Only providers with 'verify: true' take it.",
  )),
  "response_format[text]": open(ignored),
  "response_format[json_object]": open(exactBut("with tools, verified")),
  "response_format[json_schema]": open(gated("structured_outputs")),
  "response_format[json_schema].json_schema.name": lossy("the schema"),
  "response_format[json_schema].json_schema.description": lossy("the schema"),
  "response_format[json_schema].json_schema.strict": byWire(
    lossy("the schema, which is always enforced", "`true` is verified"),
  ),
  "reasoning_effort": gated("reasoning_effort", "`minimal` and `xhigh` are refused"),
  "reasoning.effort": gated("reasoning_effort", "`minimal` and `xhigh` are refused"),
  "thinking": exactBut("`disabled`"),
  "thinking[disabled]": exact,
});

/** Treatment of every field of an embeddings request by the protocol of local runtimes. */
export const EMBEDDINGS = newFieldTable<EmbeddingsField>({
  "model": exact,
  "input": exact,
  "encoding_format": refusedUnless("float"),
  "dimensions": refused,
  "user": refused,
});
