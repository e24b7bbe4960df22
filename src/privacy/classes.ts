import { SEALED_PREFIX } from "../core/stream/sealed_text.ts";
import type { JsonValue } from "../core/json/json.ts";
import type { JsonPath } from "./json_strings.ts";

/**
 * Class of a string of a request: text that may be replaced, a name that others must find again, a
 * tag of a closed list, or data in base64 that no rule can read: `opaque` is what a provider has
 * made, `unread` what the client sends. `signed` is text under a signature that a change would
 * break.
 */
export type StringClass = "text" | "name" | "tag" | "opaque" | "unread" | "signed";

/** Places of the contents of messages, in all client APIs. */
const CONTENTS = [
  "messages[].content[]",
  "messages[].content[].content[]",
  "messages[].content[].content",
  "messages[].content[].content.content",
  "messages[].content[].source.content[]",
  "messages[].content[].content[].source.content[]",
  "system[]",
  "system",
  "input[].content[]",
  "input[].output[]",
  "input[].summary[]",
  "items[].content[]",
  "items[].output[]",
  "items[].summary[]",
  "prediction.content[]",
  "messages[].thinking_blocks[]",
  "messages[].reasoning_details[]",
];

/** Members of a content part. */
const PART_MEMBERS: readonly (readonly [string, StringClass])[] = [
  ["type", "tag"],
  ["id", "name"],
  ["name", "name"],
  ["tool_use_id", "name"],
  ["file_id", "name"],
  ["detail", "tag"],
  ["image_url.detail", "tag"],
  ["file.file_id", "name"],
  ["input_audio.data", "unread"],
  ["input_audio.format", "tag"],
  ["file.file_data", "unread"],
  ["file_data", "unread"],
  ["source.type", "tag"],
  ["source.media_type", "tag"],
  ["source.data", "unread"],
  ["source.file_id", "name"],
  ["cache_control.type", "tag"],
  ["cache_control.ttl", "tag"],
  ["signature", "opaque"],
  ["data", "opaque"],
  ["thinking", "signed"],
  ["encrypted_content", "opaque"],
  ["encrypted_index", "opaque"],
];

/** Members of a message or of an item. */
const ITEM_MEMBERS: readonly (readonly [string, StringClass])[] = [
  ["type", "tag"],
  ["role", "tag"],
  ["status", "tag"],
  ["phase", "tag"],
  ["id", "name"],
  ["call_id", "name"],
  ["tool_call_id", "name"],
  ["namespace", "name"],
  ["server_label", "name"],
  ["approval_request_id", "name"],
  ["encrypted_content", "opaque"],
  ["result", "unread"],
];

/** Further rows; every path without one is text. */
const ROWS: readonly (readonly [string, StringClass])[] = [
  ["model", "name"],
  ["messages[].reasoning_details[].text", "signed"],
  ["messages[].content[].citations[].encrypted_index", "opaque"],
  ["messages[].extra_content.google.thought_signature", "opaque"],
  ["messages[].tool_calls[].extra_content.google.thought_signature", "opaque"],
  ["input[].name", "name"],
  ["items[].name", "name"],
  ["messages[].function_call.name", "name"],
  ["messages[].audio.id", "name"],
  ["messages[].tool_calls[].id", "name"],
  ["messages[].tool_calls[].type", "tag"],
  ["messages[].tool_calls[].function.name", "name"],
  ["messages[].tool_calls[].custom.name", "name"],
  ["tools[].type", "tag"],
  ["tools[].name", "name"],
  ["tools[].function.name", "name"],
  ["tools[].custom.name", "name"],
  ["tools[].tools[].name", "name"],
  ["tools[].tools[].type", "tag"],
  ["tools[].server_label", "name"],
  ["tools[].authorization", "name"],
  ["tools[].headers.*", "name"],
  ["tools[].vector_store_ids[]", "name"],
  ["tools[].container", "name"],
  ["tools[].container.file_ids[]", "name"],
  ["tools[].allowed_tools[]", "name"],
  ["tools[].cache_control.type", "tag"],
  ["tools[].cache_control.ttl", "tag"],
  ["mcp_servers[].authorization_token", "name"],
  ["mcp_servers[].name", "name"],
  ["functions[].name", "name"],
  ["function_call", "name"],
  ["function_call.name", "name"],
  ["tool_choice", "tag"],
  ["tool_choice.type", "tag"],
  ["tool_choice.name", "name"],
  ["tool_choice.function.name", "name"],
  ["tool_choice.custom.name", "name"],
  ["tool_choice.server_label", "name"],
  ["response_format", "tag"],
  ["response_format.type", "tag"],
  ["response_format.json_schema.name", "name"],
  ["text.format.type", "tag"],
  ["text.format.name", "name"],
  ["text.verbosity", "tag"],
  ["output_config.effort", "tag"],
  ["output_config.format.type", "tag"],
  ["reasoning.effort", "tag"],
  ["reasoning.summary", "tag"],
  ["reasoning_effort", "tag"],
  ["service_tier", "tag"],
  ["truncation", "tag"],
  ["verbosity", "tag"],
  ["encoding_format", "tag"],
  ["include[]", "tag"],
  ["modalities[]", "tag"],
  ["thinking.type", "tag"],
  ["container", "name"],
  ["conversation", "name"],
  ["conversation.id", "name"],
  ["previous_response_id", "name"],
  ["prompt.id", "name"],
  ["prompt.variables.*.file_data", "unread"],
  ["input_file_id", "name"],
  ["part_ids[]", "name"],
  ["endpoint", "tag"],
];

/** True for the path of an identifier. */
export function isIdentifier(path: JsonPath): boolean {
  const name = String(path.findLast((step) => typeof step === "string"));
  return /(?:^|_)ids?$|^(?:conversation|container)$/.test(name);
}

/**
 * A number behind the word of an identifier, such as `function-call-…`, 32 hexadecimal digits or
 * more there, such as those of `resp_…`, and a UUID (RFC 9562).
 */
const MADE_NUMBER =
  /(?<=[A-Za-z][_-]{1,2})(?:[0-9a-f]{32,}|\d{9,})|(?<![0-9A-Za-z])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![0-9A-Za-z])/gi;

/** Maximum length of an identifier that a provider makes, with what some hosts put into it. */
const MAX_ID_CHARS = 64 * 1024;

/** Returns an identifier without what providers make of digits: some would be numbers of cards. */
export function withoutMadeNumbers(id: string): string {
  return id.length > MAX_ID_CHARS
    ? id
    : id.replace(MADE_NUMBER, ({ length }) => "x".repeat(length));
}

interface Row {
  readonly segments: readonly string[];
  readonly kind: StringClass;
}

/** Rows by their last name: most strings need no comparison of their path. */
const BY_NAME: ReadonlyMap<string, readonly Row[]> = compileRows([
  ...CONTENTS.flatMap((place) =>
    PART_MEMBERS.map(([member, kind]) => [`${place}.${member}`, kind] as const)
  ),
  ...["messages[]", "input[]", "items[]"].flatMap((place) =>
    ITEM_MEMBERS.map(([member, kind]) => [`${place}.${member}`, kind] as const)
  ),
  ...ROWS,
]);

/** Name of the rows that end in a name of the client. */
const ANY_NAME = "*";

function compileRows(
  rows: readonly (readonly [string, StringClass])[],
): ReadonlyMap<string, readonly Row[]> {
  const byName = new Map<string, Row[]>();
  for (const [path, kind] of rows) {
    const segments = path.replaceAll("[]", ".[]").split(".");
    const name = segments.findLast((segment) => segment !== "[]") ?? "";
    byName.set(name, [...byName.get(name) ?? [], { segments, kind }]);
  }
  return byName;
}

/** Maximum number of steps of the path of a row. */
const MAX_ROW_STEP_COUNT = 11;

/** Returns the class of the string at a path, by the path alone. */
export function classOf(path: JsonPath): StringClass {
  // A row has few segments, and a request may have very deep paths.
  if (path.length > MAX_ROW_STEP_COUNT) return "text";
  const last = path.findLast((step) => typeof step === "string");
  if (last === undefined) return "text";
  const rows = BY_NAME.get(String(last)) ?? [];
  const row = rows.find(({ segments }) => fits(segments, path)) ??
    BY_NAME.get(ANY_NAME)?.find(({ segments }) => fits(segments, path));
  return row?.kind ?? "text";
}

function fits(segments: readonly string[], path: JsonPath): boolean {
  return segments.length === path.length && segments.every((segment, index) => {
    const step = path[index];
    if (segment === "[]") return typeof step === "number";
    return segment === ANY_NAME ? typeof step === "string" : segment === step;
  });
}

/** Words of closed lists of the protocols, which are no values of the client. */
const TAGS: ReadonlySet<string> = new Set(
  ("assistant auto any api_key audio base64 batch concise container critic custom default detailed developer disabled " +
    "discriminator document enabled ephemeral file file_id file_search flex float function high image image_url " +
    "input_audio input_file input_image input_text item_reference json_object json_schema low max mcp medium message " +
    "minimal namespace none opaque output_text priority reasoning refusal required scale search_result standard " +
    "summary_text system text thinking tool tool_result tool_use url user web_search xhigh adaptive grammar regex lark " +
    "completed incomplete in_progress commentary final_answer function_call function_call_output custom_tool_call " +
    "custom_tool_call_output compaction reasoning_text redacted_thinking").split(" "),
);

/** Members of the protocols besides those of the rows. */
const MEMBERS: ReadonlySet<string> = new Set([
  ...[...BY_NAME.values()].flat().flatMap(({ segments }) => segments),
  ...("arguments description documents enum instructions items max_output_tokens max_tokens metadata n parallel_tool_calls " +
    "parameters prompt prompt_cache_key properties query safety_identifier seed stop store stream stream_options strict " +
    "temperature title top_p user").split(" "),
]);

/** True if a string is a word of a closed list of the protocols. */
export function isTag(text: string): boolean {
  return TAGS.has(text);
}

/** True if the name of a member is one of the protocols, and so no value of the client. */
export function isKnownMember(name: string): boolean {
  return MEMBERS.has(name) || TAGS.has(name);
}

/** Least length of a string that counts as data: a shorter one is searched. */
const MIN_DATA_CHARS = 64;

const BASE64 = /^[A-Za-z0-9+/_=\r\n-]*$/;

/**
 * Beginning of an address that has data in base64 itself (RFC 2397), with what parsers of addresses
 * forgive.
 */
const DATA_URL = /^\s{0,100}data:[^,]{0,1000};\s{0,100}base64\s{0,100},/i;

/** True if a string is long data in base64. */
export function isBase64(text: string): boolean {
  return text.length >= MIN_DATA_CHARS && BASE64.test(text);
}

/** How files begin in base64: images, documents and archives, sound, and video. */
const MEDIA =
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|SUkqA|TU0AK|JVBERi|UEsDB|UklGR|SUQz|\/\/[uv]|T2dnU|ZkxhQ|AAAA..Z0eXA|GkXfo)/;

/** Least length of a file: an image of one pixel is no longer. */
const MIN_MEDIA_CHARS = 32;

/** True if a string is a file in base64, wherever it is. */
export function isMedia(text: string): boolean {
  return text.length >= MIN_MEDIA_CHARS && MEDIA.test(text) && BASE64.test(text);
}

/** Types of objects whose data is reasoning that a provider has encrypted. */
const ENCRYPTED = /^(?:redacted_thinking|reasoning\.encrypted)$/;

/** True if the data of an object of this type is what a provider has made. */
export function isEncrypted(type: JsonValue | undefined): boolean {
  return typeof type === "string" && ENCRYPTED.test(type);
}

/** Reasoning that the gateway has sealed: a checksum, and data in base64. */
const SEALED = new RegExp(
  // An open number, as in `{64,}`, overflows the stack of the engine in long data.
  `^${
    SEALED_PREFIX.replace(".", "\\.")
  }[0-9a-f]{16}\\.[A-Za-z0-9_-]{${MIN_DATA_CHARS}}[A-Za-z0-9_-]*$`,
);

/** True if a string is long data that only who has made it can read. */
export function isOpaque(text: string): boolean {
  return isBase64(text) || SEALED.test(text);
}

/**
 * Returns the text before the data of a `data:` address in base64, whatever its path, or all of it
 * if other characters are among the data; null for any other string.
 */
export function textOfDataUrl(text: string): string | null {
  const beginning = DATA_URL.exec(text)?.[0];
  if (beginning === undefined) return null;
  return BASE64.test(text.slice(beginning.length)) ? beginning : text;
}

/** Top-level members whose values belong to the application, and not to one conversation. */
const SHARED_MEMBERS: ReadonlySet<unknown> = new Set([
  "system",
  "instructions",
  "tools",
  "functions",
  "response_format",
  "text",
  "tool_choice",
  "output_config",
]);

/** True for the path of a value that all conversations of an application share. */
export function isShared([first]: JsonPath): boolean {
  return SHARED_MEMBERS.has(first);
}
