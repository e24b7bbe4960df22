import {
  exact,
  exactBut,
  gated,
  ignored,
  lossy,
  refused,
  refusedBut,
  refusedUnless,
  type Treatment,
  verified,
} from "../../wires/field_table.ts";
import type { WireName } from "../../wires/wire.ts";

/** Protocols to which requests of the Messages API are translated. */
type Translated = Exclude<WireName, "messages">;

/** Treatment by every translated protocol, or by each of them. */
type Row = Treatment | Readonly<Record<Translated, Treatment>>;

const NOTHING = lossy("nothing");
const LOCAL_VERIFIED = { compat: exact, responses: exact, local: verified() };
const FORMAT = {
  compat: gated("structured_outputs"),
  responses: gated("structured_outputs"),
  local: gated("structured_outputs", "the response is verified"),
};
const MOVED = lossy("everything, in a user message behind the results");

const ROWS = {
  "model": exact,
  "max_tokens": exactBut("0 is refused"),
  "messages": exact,
  "system": exact,
  "system[text].cache_control": ignored,
  "stream": exact,
  "stop_sequences": { compat: exact, local: exact, responses: verified(undefined, []) },
  "temperature": exact,
  "top_p": exact,
  "top_k": { compat: exact, local: exact, responses: refused },
  "metadata.user_id": {
    compat: exactBut("lossy if it is not 1 to 64 letters, digits, `_` or `-`"),
    responses: exactBut("lossy if it is not 1 to 64 letters, digits, `_` or `-`"),
    local: NOTHING,
  },
  "service_tier=auto": ignored,
  "service_tier=standard_only": { compat: exact, responses: exact, local: ignored },
  "thinking[adaptive]": ignored,
  "thinking[enabled].budget_tokens": lossy(
    "that the model may think, with the effort for this budget where `reasoning_effort` is declared",
  ),
  "thinking[disabled]": {
    compat: lossy("that no thinking is shown", "exact if the level `none` is declared"),
    responses: lossy("that no thinking is shown", "exact if the level `none` is declared"),
    local: exact,
  },
  "thinking[between_tools]": refused,
  "thinking.display": exactBut("by the gateway"),
  "output_config.effort": gated("reasoning_effort"),
  "output_config.format": FORMAT,
  "output_config.task_budget": refused,
  "output_format": FORMAT,
  "cache_control": ignored,
  "context_management": {
    kind: "refused",
    unless: [{ edits: [] }],
    note: "edits that keep all thinking are ignored",
  },
  "speed": refusedUnless("standard"),
  "diagnostics": refusedUnless({}),
  "container": refused,
  "inference_geo": refused,
  "mcp_servers": refusedUnless([]),
  "fallbacks": refusedUnless([]),
  "safeguards": refusedUnless([]),
  "tags": refusedUnless([]),
  "messages[system]": exact,
  "messages[system].output_config.effort": exactBut(
    "lossy without `reasoning_effort` at the provider; the last one counts",
  ),
  "messages[system].clear_at": refusedUnless("never"),
  "messages[user].content[text]": exact,
  "messages[user].content[text].cache_control": ignored,
  "messages[user].content[image].source[base64]": {
    compat: exact,
    responses: exact,
    local: lossy("text and images, not the place of an image in the text", "exact without text"),
  },
  "messages[user].content[image].source[url]": { compat: exact, responses: exact, local: refused },
  "messages[user].content[image].source[file]": refused,
  "messages[user].content[document].source[base64]": {
    compat: exact,
    responses: exact,
    local: refused,
  },
  "messages[user].content[document].source[text]": lossy("the text, behind title and context"),
  "messages[user].content[document].source[url]": refused,
  "messages[user].content[document].citations": refusedUnless({ enabled: false }),
  "messages[user].content[search_result]": refused,
  "messages[user].content[tool_result]": exact,
  "messages[user].content[tool_result].is_error": lossy("a first line `[tool error]`"),
  "messages[user].content[tool_result].content[image]": {
    compat: MOVED,
    local: exact,
    responses: exact,
  },
  "messages[user].content[tool_result].content[document]": {
    compat: MOVED,
    local: refused,
    responses: exact,
  },
  "messages[user].content[tool_result].content[tool_reference]": exactBut("a line of text"),
  "messages[user].content[tool_result].content[search_result]": refused,
  "messages[assistant].content[text]": exact,
  "messages[assistant].content[text].citations": NOTHING,
  "messages[assistant].content[tool_use]": exact,
  "messages[assistant].content[tool_use].caller": refusedUnless({ type: "direct" }),
  "messages[assistant].content[thinking].thinking": {
    compat: exact,
    local: exact,
    responses: NOTHING,
  },
  "messages[assistant].content[thinking].signature": lossy(
    "nothing",
    "that of the gateway has the text of the thinking",
  ),
  "messages[assistant].content[redacted_thinking]": NOTHING,
  "messages[assistant].content[server_tool_use]": refused,
  "tools[custom].name": exactBut("over 64 characters, another name and its own in the response"),
  "tools[custom].description": exact,
  "tools[custom].input_schema": {
    compat: exact,
    responses: exact,
    local: lossy("the keywords that the runtime shows the model", "the whole schema is sent"),
  },
  "tools[custom].strict": LOCAL_VERIFIED,
  "tools[custom].defer_loading": exactBut("the tool is sent when the request has named it"),
  "tools[custom].input_examples": refusedUnless([]),
  "tools[custom].eager_input_streaming": ignored,
  "tools[custom].allowed_callers": refusedUnless(["direct"]),
  "tools[custom].cache_control": ignored,
  "tools[web_search_20250305]": refusedBut("so is every other type"),
  "tool_choice=auto": { compat: exact, responses: exact, local: ignored },
  "tool_choice=any": LOCAL_VERIFIED,
  "tool_choice[tool].name": LOCAL_VERIFIED,
  "tool_choice=none": exact,
  "tool_choice.disable_parallel_tool_use": LOCAL_VERIFIED,
} as const satisfies Readonly<Record<string, Row>>;

/** Path of a field of a Messages request, as the page of request fields names it. */
export type MessagesField = keyof typeof ROWS;

/** The fields of a request in the order of the page (Messages API, create). */
export const MESSAGES_FIELDS = Object.keys(ROWS).filter(isMessagesField);

/** Returns the treatment of a field of a Messages request by a protocol; the same API gets the client's text. */
export function messagesTreatment(field: MessagesField, wire: WireName): Treatment {
  if (wire === "messages") return exact;
  const row: Row = ROWS[field];
  return "kind" in row ? row : row[wire];
}

/** True if the page has a row for this path. */
export function isMessagesField(path: string): path is MessagesField {
  return Object.hasOwn(ROWS, path);
}
