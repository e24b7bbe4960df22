import type { MessagesField } from "../../../../src/api/messages/parse/fields.ts";
import type { JsonObject, JsonValue } from "../../../../src/core/json/json.ts";
import type { WireName } from "../../../../src/wires/wire.ts";

/** A request that has one field, and what the upstream must get of it. */
export interface Probe {
  /** Path of the field, or of the object around it, in the client's request. */
  readonly path: string;
  readonly value: JsonValue;
  /** Returns the members of the request for a value of the field; undefined leaves it out. */
  body(value: JsonValue | undefined, wire: WireName): Members;
  /** Text of the encoded request for the value, if it differs from the value itself. */
  readonly shown?: string | Readonly<Partial<Record<WireName, string>>>;
  /** True if the gateway serves the field itself: the upstream gets the same request without it. */
  readonly byGateway?: boolean;
}

/** Members of an object; undefined leaves one out. */
export type Members = Readonly<Record<string, JsonValue | undefined>>;

type Given = JsonValue | undefined;

type More = Partial<Omit<Probe, "path" | "value" | "body">>;

export const USER = { role: "user", content: "Hi" };
const PNG = { type: "base64", media_type: "image/png", data: "iVBORw0K" };
const PDF = { type: "base64", media_type: "application/pdf", data: "JVBERi0x" };
const PLAIN = { type: "text", media_type: "text/plain", data: "Plain." };
const CALL = { type: "tool_use", id: "toolu_1", name: "look", input: {} };
const RESULT = { type: "tool_result", tool_use_id: "toolu_1", content: "ok" };
export const TOOL = { name: "look", input_schema: { type: "object" } };
const MARK = { type: "ephemeral" };
const CHECKED = { type: "object", properties: {}, required: [], additionalProperties: false };

/** Returns an object without the members that are left out. */
export function objectOf(members: Members): JsonObject {
  return Object.fromEntries(
    Object.entries(members).flatMap(([key, value]) => value === undefined ? [] : [[key, value]]),
  );
}

/** A top-level field. */
function top(path: string, value: JsonValue, more: More = {}, base: Members = {}): Probe {
  return { path, value, body: (given) => ({ ...base, [path]: given }), ...more };
}

/** A member of a top-level field. */
function inside(
  path: string,
  value: JsonValue,
  make: (given: Given) => Members,
  more: More = {},
  base: Members = {},
): Probe {
  const [field = ""] = path.split(".");
  return { path, value, body: (given) => ({ ...base, [field]: objectOf(make(given)) }), ...more };
}

/** A dialogue that `make` returns for the value. */
function dialogue(
  path: string,
  value: JsonValue,
  make: (given: Given, wire: WireName) => readonly Members[],
  more: More = {},
): Probe {
  return {
    path,
    value,
    body: (given, wire) => ({ messages: make(given, wire).map(objectOf) }),
    ...more,
  };
}

/** A block behind a text of a user message. */
function inUser(
  value: JsonValue,
  make: (given: Given, wire: WireName) => Members,
  more: More = {},
): Probe {
  return dialogue("messages.0.content.1", value, (given, wire) => [{
    role: "user",
    content: [{ type: "text", text: "See:" }, objectOf(make(given, wire))],
  }], more);
}

function inImage(member: string, value: JsonValue): Probe {
  return inUser(value, (given) => ({ type: "image", source: PNG, [member]: given }));
}

function inSource(
  type: "image" | "document",
  source: Members,
  member: string,
  value: JsonValue,
  more: More = {},
): Probe {
  return inUser(
    value,
    (given) => ({ type, source: objectOf({ ...source, [member]: given }) }),
    more,
  );
}

/** A source of another type, which the request without it has not. */
function otherSource(type: "image" | "document", source: JsonObject): Probe {
  const own = type === "image" ? PNG : PDF;
  return inUser(source, (given) => ({ type, source: given ?? own }));
}

/** A document; local targets take only its text, which is lossy with every member. */
function inDocument(member: string, value: JsonValue): Probe {
  return inUser(value, (given, wire) => {
    if (wire === "local" && given === undefined) return { type: "text", text: "x" };
    return { type: "document", source: wire === "local" ? PLAIN : PDF, [member]: given };
  });
}

/** A block of an assistant message behind a text. */
function inAssistant(
  value: JsonValue,
  make: (given: Given) => Members,
  more: More = {},
): Probe {
  return dialogue("messages.1.content.1", value, (given) => [
    USER,
    { role: "assistant", content: [{ type: "text", text: "Yes" }, objectOf(make(given))] },
    USER,
  ], more);
}

function inThinking(member: string, value: JsonValue, more: More = {}): Probe {
  return dialogue("messages.1.content.0", value, (given) => [
    USER,
    {
      role: "assistant",
      content: [
        objectOf({ type: "thinking", thinking: "Hm.", signature: "", [member]: given }),
        { type: "text", text: "Yes" },
      ],
    },
    USER,
  ], more);
}

function inCall(member: string, value: JsonValue, more: More = {}): Probe {
  return dialogue("messages.1.content.0", value, (given) => [
    USER,
    { role: "assistant", content: [objectOf({ ...CALL, [member]: given })] },
    {
      role: "user",
      content: [objectOf({ ...RESULT, ...member === "id" && { tool_use_id: given } })],
    },
  ], more);
}

function inResult(member: string, value: JsonValue, more: More = {}): Probe {
  const probe = dialogue("messages.2.content.0", value, (given) => [
    USER,
    { role: "assistant", content: [CALL] },
    { role: "user", content: [objectOf({ ...RESULT, [member]: given })] },
  ], more);
  return { ...probe, body: (given, wire) => ({ ...probe.body(given, wire), tools: [TOOL] }) };
}

function inReference(member: string, value: JsonValue, more: More = {}): Probe {
  const probe = inResult("content", value, more);
  return {
    ...probe,
    body: (given, wire) =>
      probe.body(
        [objectOf({ type: "tool_reference", tool_name: "look", [member]: given })],
        wire,
      ),
  };
}

function inSystem(member: string, value: JsonValue, more: More = {}): Probe {
  return dialogue(`messages.1.${member}`, value, (given) => [
    USER,
    { role: "system", content: "Be brief.", [member]: given },
    USER,
  ], more);
}

function inTool(member: string, value: JsonValue, more: More = {}): Probe {
  return {
    path: "tools.0",
    value,
    body: (given) => ({ tools: [objectOf({ ...TOOL, [member]: given })] }),
    ...more,
  };
}

function choice(
  type: string,
  member: string,
  value: JsonValue,
  more: More = {},
): Probe {
  const own = type === "tool" ? { type, name: "look" } : { type };
  const make = (given: Given) => ({ ...own, [member]: given });
  return inside(`tool_choice.${member}`, value, make, more, { tools: [TOOL] });
}

function inThinkingField(type: string, member: string, value: JsonValue, more: More = {}): Probe {
  return inside(
    `thinking.${member}`,
    value,
    (given) => ({ type, ...type === "enabled" && { budget_tokens: 2000 }, [member]: given }),
    more,
  );
}

const SCHEMA_OF_FORMAT = { type: "object", title: "Kept" };

const ONE_CALL = { shown: '"parallel_tool_calls":false' };

/** Probes of the fields that are no variant of a list and no unknown top-level field. */
export const MESSAGES_PROBES: Readonly<Partial<Record<MessagesField, Probe>>> = {
  "model": top("model", "p/m", { byGateway: true, shown: '"model":"m"' }),
  "max_tokens": top("max_tokens", 77),
  "messages": {
    path: "messages",
    value: [{ role: "user", content: "Hello" }],
    body: (given) => given === undefined ? {} : { messages: given },
    shown: "Hello",
  },
  "messages[user]": dialogue("messages.1", "Hello", (given) => [
    USER,
    ...given === undefined ? [] : [{ role: "user", content: given }],
  ]),
  "messages[user].content": dialogue("messages.0.content", "Hello", (given) => [
    { role: "user", content: given },
  ]),
  "messages[assistant]": dialogue("messages.1", "Hello", (given) => [
    USER,
    ...given === undefined ? [] : [{ role: "assistant", content: given }],
    USER,
  ]),
  "messages[assistant].content": dialogue("messages.1.content", "Hello", (given) => [
    USER,
    { role: "assistant", content: given },
    USER,
  ]),
  "messages[system]": dialogue("messages.1", "Hello", (given) => [
    USER,
    ...given === undefined ? [] : [{ role: "system", content: given }],
    USER,
  ]),
  "messages[system].content": inSystem("content", "Hello"),
  "messages[system].output_config.effort": inSystem("output_config", { effort: "low" }, {
    shown: "low",
  }),
  "messages[system].clear_at": inSystem("clear_at", "next_turn"),
  "messages[].content[text].text": inUser("Hello", (text) => ({ type: "text", text })),
  "messages[].content[text].citations": inAssistant(
    [{ type: "char_location", cited_text: "x" }],
    (citations) => ({ type: "text", text: "Yes", citations }),
  ),
  "messages[].content[text].cache_control": inUser(
    MARK,
    (cache_control) => ({ type: "text", text: "x", cache_control }),
  ),
  "messages[user].content[image].source[base64].media_type": inSource(
    "image",
    PNG,
    "media_type",
    "image/png",
  ),
  "messages[user].content[image].source[base64].data": inSource("image", PNG, "data", "iVBORw0K"),
  "messages[user].content[image].source[url].url": inSource(
    "image",
    { type: "url" },
    "url",
    "https://a.example/",
  ),
  "messages[user].content[image].source[file]": otherSource("image", {
    type: "file",
    file_id: "file_1",
  }),
  "messages[user].content[image].transformations": inImage("transformations", []),
  "messages[user].content[image].cache_control": inImage("cache_control", MARK),
  "messages[user].content[document].source[base64].media_type": inSource(
    "document",
    PDF,
    "media_type",
    "application/pdf",
  ),
  "messages[user].content[document].source[base64].data": inSource(
    "document",
    PDF,
    "data",
    "JVBERi0x",
  ),
  "messages[user].content[document].source[text].media_type": inSource(
    "document",
    PLAIN,
    "media_type",
    "text/plain",
  ),
  "messages[user].content[document].source[text].data": inSource("document", PLAIN, "data", "Hey."),
  "messages[user].content[document].source[content].content": inSource(
    "document",
    { type: "content" },
    "content",
    [{ type: "text", text: "Hey." }],
  ),
  "messages[user].content[document].source[url]": otherSource("document", {
    type: "url",
    url: "https://a.example/",
  }),
  "messages[user].content[document].source[file]": otherSource("document", {
    type: "file",
    file_id: "file_1",
  }),
  "messages[user].content[document].title": inDocument("title", "b.pdf"),
  "messages[user].content[document].context": inDocument("context", "From Oslo."),
  "messages[user].content[document].citations.enabled": inUser(true, (enabled, wire) => ({
    type: "document",
    source: wire === "local" ? PLAIN : PDF,
    citations: objectOf({ enabled }),
  })),
  "messages[user].content[document].cache_control": inUser(
    MARK,
    (cache_control) => ({ type: "document", source: PLAIN, cache_control }),
  ),
  "messages[user].content[tool_result].tool_use_id": inResult("tool_use_id", "toolu_1"),
  "messages[user].content[tool_result].content": inResult("content", "done"),
  "messages[user].content[tool_result].content[text]": inResult("content", [
    { type: "text", text: "done" },
  ], { shown: "done" }),
  "messages[user].content[tool_result].content[image]": inResult("content", [
    { type: "text", text: "See:" },
    { type: "image", source: PNG },
  ], { shown: "iVBORw0K" }),
  "messages[user].content[tool_result].content[document]": inResult("content", [
    { type: "document", source: PDF },
  ], { shown: "JVBERi0x" }),
  "messages[user].content[tool_result].content[tool_reference].tool_name": inReference(
    "tool_name",
    "look",
    { shown: "Loaded tool: look", byGateway: true },
  ),
  "messages[user].content[tool_result].content[tool_reference].cache_control": inReference(
    "cache_control",
    MARK,
  ),
  "messages[user].content[tool_result].content[search_result]": inResult("content", [
    { type: "search_result", source: "a", title: "b", content: [] },
  ]),
  "messages[user].content[tool_result].content[browser_state]": inResult("content", [
    { type: "browser_state" },
  ]),
  "messages[user].content[tool_result].is_error": inResult("is_error", true),
  "messages[user].content[tool_result].toolset_name": inResult("toolset_name", "browser"),
  "messages[user].content[tool_result].cache_control": inResult("cache_control", MARK),
  "messages[assistant].content[thinking].thinking": inThinking("thinking", "I think."),
  "messages[assistant].content[thinking].signature": inThinking("signature", "S1"),
  "messages[assistant].content[thinking].cache_control": inThinking("cache_control", MARK),
  "messages[assistant].content[redacted_thinking].data": inAssistant(
    "AAAA",
    (data) => data === undefined ? { type: "text", text: "" } : { type: "redacted_thinking", data },
  ),
  "messages[assistant].content[tool_use].id": inCall("id", "toolu_7"),
  "messages[assistant].content[tool_use].name": inCall("name", "peek"),
  "messages[assistant].content[tool_use].input": inCall("input", { city: "Oslo" }, {
    shown: "Oslo",
  }),
  "messages[assistant].content[tool_use].caller": inCall("caller", {
    type: "code_execution_20260120",
    tool_id: "srvtoolu_1",
  }),
  "messages[assistant].content[tool_use].toolset_name": inCall("toolset_name", "browser"),
  "messages[assistant].content[tool_use].cache_control": inCall("cache_control", MARK),
  "system": top("system", "Be brief."),
  "stream": top("stream", true, { shown: '"stream":true' }),
  "stop_sequences": top("stop_sequences", ["END"], { shown: "END" }),
  "temperature": top("temperature", 0.25),
  "top_p": top("top_p", 0.25),
  "top_k": top("top_k", 7),
  "metadata.user_id": inside("metadata.user_id", "user-1", (user_id) => ({ user_id })),
  "service_tier": top("service_tier", "standard_only", { shown: '"service_tier":"default"' }),
  "thinking[adaptive]": top("thinking", { type: "adaptive" }),
  "thinking[adaptive].display": inThinkingField("adaptive", "display", "omitted", {
    byGateway: true,
    shown: "",
  }),
  "thinking[enabled].budget_tokens": inThinkingField("enabled", "budget_tokens", 2000),
  "thinking[enabled].display": inThinkingField("enabled", "display", "omitted", {
    byGateway: true,
    shown: "",
  }),
  "thinking[disabled]": top("thinking", { type: "disabled" }, { shown: '"think":false' }),
  "thinking[disabled].display": inThinkingField("disabled", "display", "omitted"),
  "thinking[between_tools]": top("thinking", { type: "between_tools" }),
  "output_config.effort": inside("output_config.effort", "low", (effort) => ({ effort })),
  "output_config.format[json_schema].schema": inside(
    "output_config.format",
    { type: "json_schema", schema: SCHEMA_OF_FORMAT },
    (format) => ({ format }),
    { shown: "Kept" },
  ),
  "output_config.task_budget": inside(
    "output_config.task_budget",
    { type: "tokens", total: 9 },
    (task_budget) => ({ task_budget }),
  ),
  "output_format[json_schema].schema": top(
    "output_format",
    { type: "json_schema", schema: SCHEMA_OF_FORMAT },
    { shown: "Kept" },
  ),
  "tools": top("tools", [TOOL], { shown: "look" }),
  "tools[custom].name": inTool("name", "peek"),
  "tools[custom].description": inTool("description", "Looks."),
  "tools[custom].input_schema": inTool("input_schema", CHECKED, { shown: "additionalProperties" }),
  "tools[custom].strict": {
    path: "tools.0",
    value: true,
    body: (given) => ({
      tools: [objectOf({ ...TOOL, input_schema: CHECKED, strict: given })],
    }),
    shown: '"strict":true',
  },
  "tools[custom].defer_loading": {
    path: "tools.1",
    value: true,
    body: (given) => ({ tools: [TOOL, objectOf({ ...TOOL, name: "peek", defer_loading: given })] }),
    shown: "look",
  },
  "tools[custom].input_examples": inTool("input_examples", [{ city: "Oslo" }]),
  "tools[custom].eager_input_streaming": inTool("eager_input_streaming", true),
  "tools[custom].allowed_callers": inTool("allowed_callers", ["direct", "code_execution_20260120"]),
  "tools[custom].cache_control": inTool("cache_control", MARK),
  "tool_choice[auto]": top("tool_choice", { type: "auto" }, {
    shown: { compat: '"tool_choice":"auto"', responses: '"tool_choice":"auto"' },
  }, { tools: [TOOL] }),
  "tool_choice[auto].disable_parallel_tool_use": choice(
    "auto",
    "disable_parallel_tool_use",
    true,
    ONE_CALL,
  ),
  "tool_choice[any]": top("tool_choice", { type: "any" }, { shown: '"tool_choice":"required"' }, {
    tools: [TOOL],
  }),
  "tool_choice[any].disable_parallel_tool_use": choice(
    "any",
    "disable_parallel_tool_use",
    true,
    ONE_CALL,
  ),
  "tool_choice[tool].name": top("tool_choice", { type: "tool", name: "look" }, {
    shown: { compat: '"function":{"name":"look"}', responses: '"name":"look"' },
  }, { tools: [TOOL] }),
  "tool_choice[tool].disable_parallel_tool_use": choice(
    "tool",
    "disable_parallel_tool_use",
    true,
    ONE_CALL,
  ),
  "tool_choice[none]": top("tool_choice", { type: "none" }, {
    shown: { compat: '"tool_choice":"none"', responses: '"tool_choice":"none"', local: "" },
  }, { tools: [TOOL] }),
  "tool_choice[none].disable_parallel_tool_use": choice("none", "disable_parallel_tool_use", true),
  "cache_control": top("cache_control", MARK),
  "context_management": top("context_management", {
    edits: [{ type: "clear_tool_uses_20250919" }],
  }),
  "speed": top("speed", "fast"),
  "diagnostics": top("diagnostics", { previous_message_id: "msg_1" }),
};
