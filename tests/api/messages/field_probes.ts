import type { MessagesField } from "../../../src/api/messages/fields.ts";
import type { JsonObject, JsonValue } from "../../../src/core/json/json.ts";

/** How one field is sent and what must be seen of it. */
export interface Probe {
  /** The client's path of the field, or of the object around it. */
  readonly path: string;
  readonly value: JsonValue;
  /** Returns the fields of a request with a value; undefined leaves the field out. */
  body(value: JsonValue | undefined): JsonObject;
  /** Text that the sent request has for the value. */
  readonly shown?: string;
  /** True if the request is the same without the field, because the gateway itself does what it asks. */
  readonly always?: boolean;
  /** Protocols over which the gateway checks the response besides. */
  readonly checkedOver?: readonly string[];
}

const IMAGE = "iVBORw0KGgo=";
const PDF = "JVBERi0xLjE=";

function when(key: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { [key]: value };
}

/** Probe of a top-level field. */
function top(key: string, value: JsonValue, shown?: string): Probe {
  return {
    path: key,
    value,
    body: (given) => when(key, given),
    ...shown !== undefined && { shown },
  };
}

/** Probe of a member of a top-level object. */
function inside(
  key: string,
  more: JsonObject,
  member: string,
  value: JsonValue,
  shown?: string,
): Probe {
  return {
    path: `${key}.${member}`,
    value,
    body: (given) => ({ [key]: { ...more, ...when(member, given) } }),
    ...shown !== undefined && { shown },
  };
}

function user(content: JsonValue): JsonObject {
  return { role: "user", content };
}

/** Probe of a block of the user beside a text; the value is the block. */
function block(value: JsonObject, shown: string): Probe {
  const text = { type: "text", text: "Hi" };
  return {
    path: "messages.0.content.1",
    value,
    body: (given) => ({ messages: [user([text, ...given === undefined ? [] : [given]])] }),
    shown,
  };
}

const TOOL = { name: "f", input_schema: { type: "object" } };
const DEFERRED = { name: "late", input_schema: { type: "object" }, defer_loading: true };
const USE = { type: "tool_use", id: "t1", name: "f", input: {} };

/** Probe of a member of a tool result. */
function result(member: string, value: JsonValue, shown: string, inner = false): Probe {
  return {
    path: inner ? "messages.2.content.0" : `messages.2.content.0.${member}`,
    value,
    body: (given) => ({
      tools: [TOOL, DEFERRED],
      messages: [
        user("Hi"),
        { role: "assistant", content: [USE] },
        user([{ type: "tool_result", tool_use_id: "t1", ...when(member, given) }]),
      ],
    }),
    shown,
  };
}

/** Probe of a block of the assistant beside a text; the value is the block. */
function spoken(value: JsonObject, shown: string, at = ""): Probe {
  const text = { type: "text", text: "Hm" };
  return {
    path: `messages.1.content.0${at}`,
    value,
    body: (given) => ({
      messages: [
        user("Hi"),
        { role: "assistant", content: [...given === undefined ? [] : [given], text] },
        user("Go on"),
      ],
    }),
    shown,
  };
}

/** Probe of a member of a call. */
function called(member: string, value: JsonValue): Probe {
  return {
    path: `messages.1.content.0.${member}`,
    value,
    body: (given) => ({
      tools: [TOOL],
      messages: [
        user("Hi"),
        { role: "assistant", content: [{ ...USE, ...when(member, given) }] },
        user([{ type: "tool_result", tool_use_id: "t1", content: "4" }]),
      ],
    }),
  };
}

/** Probe of a member of a custom tool. */
function tool(member: string, value: JsonValue, shown?: string): Probe {
  return {
    path: `tools.0.custom.${member}`,
    value,
    body: (given) => ({ tools: [{ ...TOOL, ...when(member, given) }] }),
    ...shown !== undefined && { shown },
  };
}

function choice(value: JsonObject, shown: string): Probe {
  return {
    path: "tool_choice",
    value,
    body: (given) => ({ tools: [TOOL], ...when("tool_choice", given) }),
    shown,
  };
}

/** Probe of a member of a system message behind the first message. */
function system(member: string, value: JsonValue, shown?: string): Probe {
  return {
    path: `messages.1.${member}`,
    value,
    body: (given) => ({
      messages: [user("Hi"), { role: "system", content: "Be brief.", ...when(member, given) }],
    }),
    ...shown !== undefined && { shown },
  };
}

const SCHEMA = { type: "object", additionalProperties: false, properties: {} };
const FORMAT = { type: "json_schema", schema: SCHEMA };
const CACHE = { type: "ephemeral" };
const URL_SOURCE = { type: "url", url: "https://example.com/a" };
const PDF_SOURCE = { type: "base64", media_type: "application/pdf", data: PDF };
const PNG_SOURCE = { type: "base64", media_type: "image/png", data: IMAGE };

/** A probe for each field. */
export const MESSAGES_PROBES: Readonly<Record<MessagesField, Probe>> = {
  "model": { ...top("model", "p/m", '"model":"m"'), always: true },
  "max_tokens": top("max_tokens", 77),
  "messages": top("messages", [user("Good day")], "Good day"),
  "system": top("system", "Be kind."),
  "system[text].cache_control": {
    path: "system.0.cache_control",
    value: CACHE,
    body: (given) => ({
      system: [{ type: "text", text: "Be kind.", ...when("cache_control", given) }],
    }),
  },
  "stream": top("stream", true, '"stream":true'),
  "stop_sequences": top("stop_sequences", ["the end"], "the end"),
  "temperature": top("temperature", 0.77),
  "top_p": top("top_p", 0.77),
  "top_k": top("top_k", 77),
  "metadata.user_id": inside("metadata", {}, "user_id", "user-1"),
  "service_tier=auto": top("service_tier", "auto"),
  "service_tier=standard_only": top("service_tier", "standard_only", '"service_tier":"default"'),
  "thinking[adaptive]": top("thinking", { type: "adaptive" }),
  "thinking[enabled].budget_tokens": top("thinking", { type: "enabled", budget_tokens: 2048 }),
  "thinking[disabled]": top("thinking", { type: "disabled" }, '"think":false'),
  "thinking[between_tools]": top("thinking", { type: "between_tools" }),
  "thinking.display": {
    ...inside("thinking", { type: "adaptive" }, "display", "omitted", ""),
    always: true,
  },
  "output_config.effort": inside("output_config", {}, "effort", "low"),
  "output_config.format": {
    ...inside("output_config", {}, "format", FORMAT, "additionalProperties"),
    checkedOver: ["local"],
  },
  "output_config.task_budget": inside("output_config", {}, "task_budget", { tokens: 1 }),
  "output_format": {
    ...top("output_format", FORMAT, "additionalProperties"),
    checkedOver: ["local"],
  },
  "cache_control": top("cache_control", CACHE),
  "context_management": top("context_management", {
    edits: [{ type: "clear_tool_uses_20250919" }],
  }),
  "speed": top("speed", "fast"),
  "diagnostics": top("diagnostics", { previous_message_id: "msg_1" }),
  "container": top("container", "c1"),
  "inference_geo": top("inference_geo", "eu"),
  "mcp_servers": top("mcp_servers", [{ name: "s" }]),
  "fallbacks": top("fallbacks", [{ model: "m2" }]),
  "safeguards": top("safeguards", [{ type: "dangerous_tool_use" }]),
  "tags": top("tags", ["a"]),
  "messages[system]": {
    path: "messages.1",
    value: { role: "system", content: "Be brief." },
    body: (given) => ({ messages: [user("Hi"), ...given === undefined ? [] : [given]] }),
    shown: "Be brief.",
  },
  "messages[system].output_config.effort": system("output_config", { effort: "low" }, "low"),
  "messages[system].clear_at": system("clear_at", "next_turn"),
  "messages[user].content[text]": block({ type: "text", text: "Good day" }, "Good day"),
  "messages[user].content[text].cache_control": {
    path: "messages.0.content.0.cache_control",
    value: CACHE,
    body: (given) => ({
      messages: [user([{ type: "text", text: "Hi", ...when("cache_control", given) }])],
    }),
  },
  "messages[user].content[image].source[base64]": block(
    { type: "image", source: PNG_SOURCE },
    IMAGE,
  ),
  "messages[user].content[image].source[url]": block(
    { type: "image", source: URL_SOURCE },
    URL_SOURCE.url,
  ),
  "messages[user].content[image].source[file]": block(
    { type: "image", source: { type: "file", file_id: "file_1" } },
    "file_1",
  ),
  "messages[user].content[document].source[base64]": block(
    { type: "document", source: PDF_SOURCE },
    PDF,
  ),
  "messages[user].content[document].source[text]": block(
    { type: "document", source: { type: "text", media_type: "text/plain", data: "A page." } },
    "A page.",
  ),
  "messages[user].content[document].source[url]": block(
    { type: "document", source: URL_SOURCE },
    URL_SOURCE.url,
  ),
  "messages[user].content[document].citations": {
    path: "messages.0.content.0.citations",
    value: { enabled: true },
    body: (given) => ({
      messages: [user([{
        type: "document",
        source: { type: "text", media_type: "text/plain", data: "A page." },
        ...when("citations", given),
      }])],
    }),
  },
  "messages[user].content[search_result]": block({ type: "search_result" }, "search_result"),
  "messages[user].content[tool_result]": result("content", "The result.", "The result."),
  "messages[user].content[tool_result].is_error": result("is_error", true, "[tool error]"),
  "messages[user].content[tool_result].content[image]": result(
    "content",
    [{ type: "image", source: PNG_SOURCE }],
    IMAGE,
    true,
  ),
  "messages[user].content[tool_result].content[document]": result(
    "content",
    [{ type: "document", source: PDF_SOURCE }],
    PDF,
    true,
  ),
  "messages[user].content[tool_result].content[tool_reference]": result(
    "content",
    [{ type: "tool_reference", tool_name: "late" }],
    "Loaded tool: late",
  ),
  "messages[user].content[tool_result].content[search_result]": result(
    "content",
    [{ type: "search_result" }],
    "search_result",
    true,
  ),
  "messages[assistant].content[text]": spoken({ type: "text", text: "Ah. " }, "Ah. Hm"),
  "messages[assistant].content[text].citations": spoken(
    { type: "text", text: "Ah.", citations: [{ type: "char_location" }] },
    "Ah.",
    ".citations",
  ),
  "messages[assistant].content[tool_use]": called("input", { city: "Oslo" }),
  "messages[assistant].content[tool_use].caller": called("caller", { type: "code_execution" }),
  "messages[assistant].content[thinking].thinking": spoken(
    { type: "thinking", thinking: "A thought.", signature: "" },
    "A thought.",
  ),
  "messages[assistant].content[thinking].signature": spoken(
    { type: "thinking", thinking: "A thought.", signature: "vendor" },
    "A thought.",
    ".signature",
  ),
  "messages[assistant].content[redacted_thinking]": spoken(
    { type: "redacted_thinking", data: "sealed" },
    "",
  ),
  "messages[assistant].content[server_tool_use]": spoken(
    { type: "server_tool_use", id: "s1", name: "web_search", input: {} },
    "",
  ),
  "tools[custom].name": tool("name", "weather"),
  "tools[custom].description": tool("description", "Adds numbers."),
  "tools[custom].input_schema": {
    ...tool("input_schema", SCHEMA, "additionalProperties"),
    path: "tools.0",
  },
  "tools[custom].strict": {
    ...tool("strict", true, '"strict":true'),
    path: "tools.0",
    body: (given) => ({ tools: [{ ...TOOL, input_schema: SCHEMA, ...when("strict", given) }] }),
  },
  "tools[custom].defer_loading": {
    path: "tools.0.custom.defer_loading",
    value: true,
    body: (given) => ({
      tools: [{ ...TOOL, ...when("defer_loading", given) }],
      messages: [
        user("Hi"),
        { role: "assistant", content: [USE] },
        user([{ type: "tool_result", tool_use_id: "t1", content: "4" }]),
      ],
    }),
    shown: '"f"',
    always: true,
  },
  "tools[custom].input_examples": tool("input_examples", [{ city: "Oslo" }]),
  "tools[custom].eager_input_streaming": tool("eager_input_streaming", true),
  "tools[custom].allowed_callers": tool("allowed_callers", ["code_execution_20250825"]),
  "tools[custom].cache_control": tool("cache_control", CACHE),
  "tools[web_search_20250305]": {
    path: "tools.0.type",
    value: { type: "web_search_20250305", name: "web_search" },
    body: (given) => given === undefined ? {} : { tools: [given] },
  },
  "tool_choice=auto": choice({ type: "auto" }, "auto"),
  "tool_choice=any": choice({ type: "any" }, "required"),
  "tool_choice[tool].name": choice({ type: "tool", name: "f" }, '"f"'),
  "tool_choice=none": choice({ type: "none" }, ""),
  "tool_choice.disable_parallel_tool_use": {
    path: "tool_choice.disable_parallel_tool_use",
    value: true,
    body: (given) => ({
      tools: [TOOL],
      tool_choice: { type: "auto", ...when("disable_parallel_tool_use", given) },
    }),
    shown: '"parallel_tool_calls":false',
  },
};
