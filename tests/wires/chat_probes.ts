import type { JsonValue } from "../../src/core/json/json.ts";
import type { ChatField } from "../../src/prompt/chat_fields.ts";
import type { WireName } from "../../src/wires/wire.ts";
import type { Written } from "../support/translated.ts";

/** A request that has one field, and what the upstream must get of it. */
export interface Probe {
  /** Path of the field, or of the object around it, in the client's request. */
  readonly path: string;
  /** A value that requests something. */
  readonly value: JsonValue;
  /** Values of the wires that treat `value` differently from the mark. */
  readonly values?: Readonly<Partial<Record<WireName, JsonValue>>>;
  /** Returns the request with a value of the field; undefined leaves it out. */
  body(value: JsonValue | undefined, wire: WireName): Written;
  /** Text of the encoded request for the value, if it differs from the value itself. */
  readonly shown?: string | Readonly<Partial<Record<WireName, string>>>;
  /**
   * Wires that send the same without the field, because it is their default or needs the gateway
   * only.
   */
  readonly always?: readonly WireName[];
}

const ALL = ["compat", "responses", "messages", "local"] as const;
const TRANSLATED = ["responses", "messages", "local"] as const;

const USER = { role: "user", content: "Hi" };
const PNG = "data:image/png;base64,iVBORw0K";
const PDF = "data:application/pdf;base64,JVBERi0x";
const TEXT = { type: "text", text: "See" };
const IMAGE = { type: "image_url", image_url: { url: PNG } };
const FILE = { type: "file", file: { file_data: PDF, filename: "a.pdf" } };
const CALL = { id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
const CALLED = { role: "assistant", content: null, tool_calls: [CALL] };
const LEGACY = {
  role: "assistant",
  content: null,
  function_call: { name: "look", arguments: "{}" },
};
const CACHE = { type: "ephemeral" };
const MARK = { mode: "explicit" };
const TOOL = { type: "function", function: { name: "look" } };
const CUSTOM = { type: "custom", custom: { name: "draw" } };
const THINKING = { type: "thinking", thinking: "Hm.", signature: "S1" };
const SIGNED = { google: { thought_signature: "S1" } };
const CITED = { url: "https://a.example/", title: "A", start_index: 0, end_index: 1 };

/** A top-level field. */
function top(
  path: string,
  value: JsonValue,
  more: Partial<Probe> & { base?: Written } = {},
): Probe {
  const { base = {}, ...rest } = more;
  return { path, value, body: (given) => ({ messages: [USER], ...base, [path]: given }), ...rest };
}

/** A member of the first message, which has this role. */
function first(role: string, member: string, value: JsonValue, more: Partial<Probe> = {}): Probe {
  const tail = role === "user" ? [] : [USER];
  return {
    path: `messages[0].${member}`,
    value,
    body: (given) => ({ messages: [{ role, content: "Be brief.", [member]: given }, ...tail] }),
    ...more,
  };
}

/** A member of a part of an assistant message, which has these other members too. */
function inSpoken(
  member: string,
  value: JsonValue,
  { content = "Yes", message = {}, shown }: {
    readonly content?: string;
    readonly message?: Written;
    readonly shown?: string;
  } = {},
): Probe {
  return {
    path: "messages[1]",
    value,
    body: (given) => ({
      messages: [USER, {
        role: "assistant",
        content: [{ type: "text", text: content, [member]: given }],
        ...message,
      }, USER],
    }),
    ...shown !== undefined && { shown },
  };
}

/** A mark of a text part of an assistant message. */
function inSpokenText(member: string, value: JsonValue, shown: string): Probe {
  return {
    path: `messages[1].content[0].${member}`,
    value,
    body: (given) => ({
      messages: [USER, { role: "assistant", content: [{ ...TEXT, [member]: given }] }, USER],
    }),
    shown,
  };
}

/** A member of an assistant message between two user messages. */
function spoken(member: string, value: JsonValue, more: Partial<Probe> = {}): Probe {
  return {
    path: `messages[1].${member}`,
    value,
    body: (given) => ({
      messages: [USER, { role: "assistant", content: "Yes", [member]: given }, USER],
    }),
    ...more,
  };
}

/** A member of a message after two others. */
function third(
  before: Written,
  message: Written,
  member: string,
  value: JsonValue,
  more: Partial<Probe> = {},
): Probe {
  return {
    path: `messages[2].${member}`,
    value,
    body: (given) => ({ messages: [USER, before, { ...message, [member]: given }] }),
    ...more,
  };
}

const RESULT = { role: "tool", tool_call_id: "call_1", content: "ok" };
const LEGACY_RESULT = { role: "function", name: "look", content: "ok" };

/**
 * A field inside an object that `make` returns for its value, which is sent as a top-level field.
 */
function inside(
  path: string,
  field: string,
  value: JsonValue,
  make: (given: JsonValue | undefined) => unknown,
  more: Partial<Probe> & { base?: Written } = {},
): Probe {
  const { base = {}, ...rest } = more;
  return {
    path,
    value,
    body: (given) => ({ messages: [USER], ...base, [field]: make(given) }),
    ...rest,
  };
}

/** A field inside a part of the user's message. */
function inPart(
  below: string,
  value: JsonValue,
  make: (given: JsonValue | undefined) => unknown,
  more: Partial<Probe> = {},
): Probe {
  return {
    path: `messages[0].content[0]${below}`,
    value,
    body: (given) => ({ messages: [{ role: "user", content: [make(given)] }] }),
    ...more,
  };
}

function inTool(below: string, value: JsonValue, more: Partial<Probe> = {}): Probe {
  const make = (given: JsonValue | undefined) => [
    { type: "function", function: { name: "look", [below]: given } },
  ];
  return inside(`tools[0].function.${below}`, "tools", value, make, more);
}

function inCall(member: string, value: JsonValue, more: Partial<Probe> = {}): Probe {
  const make = (given: JsonValue | undefined) => ({
    messages: [USER, { ...CALLED, tool_calls: [{ ...CALL, [member]: given }] }, USER],
  });
  return { path: `messages[1].tool_calls[0].${member}`, value, body: make, ...more };
}

function inCustomCall(
  make: (given: JsonValue | undefined) => Written,
  value: JsonValue,
  more: Partial<Probe> = {},
): Probe {
  return {
    path: "messages[1].tool_calls[0]",
    value,
    body: (given) => ({
      messages: [USER, {
        ...CALLED,
        tool_calls: [{
          id: "call_1",
          type: "custom",
          custom: { name: "draw", input: "x" },
          ...make(given),
        }],
      }, USER],
    }),
    ...more,
  };
}

/** A JSON Schema format; some wires need no name and would lose it. */
function formatFor(wire: WireName): Written {
  const schema = { type: "object", ...wire === "messages" && { additionalProperties: false } };
  return wire === "messages" || wire === "local" ? { schema } : { name: "answer", schema };
}

function inFormat(member: string, value: JsonValue, more: Partial<Probe> = {}): Probe {
  return {
    path: `response_format.json_schema.${member}`,
    value,
    body: (given, wire) => ({
      messages: [USER],
      response_format: {
        type: "json_schema",
        json_schema: { ...formatFor(wire), [member]: given },
      },
    }),
    ...more,
  };
}

/** The whole format, of this type. */
const SCHEMA_FORMAT: Probe = {
  path: "response_format",
  value: "json_schema",
  body: (type, wire) => ({
    messages: [USER],
    response_format: type === undefined ? undefined : { type, json_schema: formatFor(wire) },
  }),
  shown: "object",
};

function inLocation(member: string, value: string): Probe {
  return inside("web_search_options", "web_search_options", value, (given) => ({
    user_location: { type: "approximate", approximate: { [member]: given } },
  }));
}

function inCitation(member: string, value: JsonValue): Probe {
  return {
    path: "messages[1].annotations",
    value,
    body: (given) => ({
      messages: [USER, {
        role: "assistant",
        content: "Yes",
        annotations: given === undefined
          ? []
          : [{ type: "url_citation", url_citation: { ...CITED, [member]: given } }],
      }, USER],
    }),
  };
}

const TOOLS = { base: { tools: [TOOL] } };
const FUNCTIONS = { base: { functions: [{ name: "look" }] } };

/** One probe for each Chat field; a field without one does not compile. */
export const CHAT_PROBES: Readonly<Record<ChatField, Probe>> = {
  "model": top("model", "p/m", { shown: '"model":"m"', always: ALL }),
  "messages": {
    path: "messages",
    value: [USER],
    body: (given) => ({ messages: given }),
    shown: "Hi",
  },
  "messages[].id": {
    path: "messages[0].id",
    value: "msg_1",
    body: (id) => ({ messages: [{ ...USER, id }] }),
  },
  "messages[system]": {
    path: "messages[1]",
    value: "Be brief.",
    body: (given) => ({ messages: [USER, { role: "system", content: given }, USER] }),
  },
  "messages[developer]": {
    path: "messages[1]",
    value: "Be brief.",
    body: (given) => ({ messages: [USER, { role: "developer", content: given }, USER] }),
  },
  "messages[system].content": first("system", "content", "Say yes."),
  "messages[system].content[text]": first("system", "content", [TEXT], { shown: "See" }),
  "messages[system].name": first("system", "name", "boss"),
  "messages[system].cache_control": first("system", "cache_control", CACHE, { shown: "ephemeral" }),
  "messages[user]": {
    path: "messages[0]",
    value: "Hello",
    body: (given) => ({ messages: [{ role: "user", content: given }] }),
  },
  "messages[user].content": first("user", "content", "Hello"),
  "messages[user].content[text]": first("user", "content", [TEXT], { shown: "See" }),
  "messages[user].content[image_url]": first("user", "content", [TEXT, IMAGE], {
    shown: "iVBORw0K",
  }),
  "messages[user].content[input_audio]": first("user", "content", [
    { type: "input_audio", input_audio: { data: "UklGRg", format: "wav" } },
  ], { shown: "UklGRg" }),
  "messages[user].content[file]": first("user", "content", [FILE], { shown: "JVBERi0x" }),
  "messages[user].name": first("user", "name", "ann"),
  "messages[user].cache_control": first("user", "cache_control", CACHE, { shown: "ephemeral" }),
  "messages[assistant]": {
    path: "messages[1]",
    value: "I say",
    body: (content) => ({
      messages: content === undefined ? [USER] : [USER, { role: "assistant", content }],
    }),
  },
  "messages[assistant].content": spoken("content", "I say"),
  "messages[assistant].content[text].text": spoken("content", [TEXT], { shown: "See" }),
  "messages[assistant].content[text].prompt_cache_breakpoint": inSpokenText(
    "prompt_cache_breakpoint",
    MARK,
    "explicit",
  ),
  "messages[assistant].content[text].cache_control": inSpokenText(
    "cache_control",
    CACHE,
    "ephemeral",
  ),
  "messages[assistant].content[refusal].refusal": spoken("content", [{
    type: "refusal",
    refusal: "Never.",
  }], { shown: "Never." }),
  "messages[assistant].content[refusal].cache_control": {
    path: "messages[1].content[0].cache_control",
    value: CACHE,
    body: (given) => ({
      messages: [USER, {
        role: "assistant",
        content: [{ type: "refusal", refusal: "No.", cache_control: given }, TEXT],
      }, USER],
    }),
    shown: "ephemeral",
  },
  "messages[assistant].content[].id": inSpoken("id", "part_1"),
  "messages[assistant].content[].parsed": inSpoken("parsed", 77, { content: "77" }),
  "messages[assistant].content[].role": inSpoken("role", "assistant"),
  "messages[assistant].content[].tool_calls": inSpoken("tool_calls", [CALL], {
    message: { tool_calls: [CALL] },
    shown: "call_1",
  }),
  "messages[assistant].content[].function_call": inSpoken(
    "function_call",
    LEGACY.function_call,
    { message: { function_call: LEGACY.function_call }, shown: "look" },
  ),
  "messages[assistant].content[].refusal": inSpoken("refusal", "No.", {
    message: { refusal: "No." },
  }),
  "messages[assistant].content[].reasoning_content": inSpoken("reasoning_content", "Hm."),
  "messages[assistant].content[].thinking_blocks": inSpoken("thinking_blocks", [THINKING], {
    shown: "S1",
  }),
  "messages[assistant].content[].annotations": inSpoken(
    "annotations",
    [{ type: "url_citation", url_citation: CITED }],
    { shown: "https://a.example/" },
  ),
  "messages[assistant].parsed": spoken("parsed", 77, {
    body: (parsed) => ({
      messages: [USER, { role: "assistant", content: "77", parsed }, USER],
    }),
  }),
  "messages[assistant].refusal": spoken("refusal", "Never."),
  "messages[assistant].tool_calls[function].id": inCall("id", "call_7"),
  "messages[assistant].tool_calls[function].index": inCall("index", 77),
  "messages[assistant].tool_calls[function].function.name": inCall("function", {
    name: "peek",
    arguments: "{}",
  }, { shown: "peek" }),
  "messages[assistant].tool_calls[function].function.arguments": inCall("function", {
    name: "look",
    arguments: '{"city":"Oslo"}',
  }, { shown: "Oslo" }),
  "messages[assistant].tool_calls[function].function.parsed_arguments": inCall(
    "function",
    { a: 77 },
    {
      body: (parsed_arguments) => ({
        messages: [USER, {
          ...CALLED,
          tool_calls: [{
            ...CALL,
            function: { name: "look", arguments: '{"a":77}', parsed_arguments },
          }],
        }, USER],
      }),
      shown: "parsed_arguments",
    },
  ),
  "messages[assistant].tool_calls[function].extra_content": inCall("extra_content", SIGNED),
  "messages[assistant].tool_calls[custom].id": inCustomCall((id) => ({ id }), "call_7"),
  "messages[assistant].tool_calls[custom].index": inCustomCall((index) => ({ index }), 77),
  "messages[assistant].tool_calls[custom].custom.name": inCustomCall(
    (name) => ({ custom: { name, input: "x" } }),
    "paint",
  ),
  "messages[assistant].tool_calls[custom].custom.input": inCustomCall(
    (input) => ({ custom: { name: "draw", input } }),
    "a line",
  ),
  "messages[assistant].tool_calls[custom].extra_content": inCustomCall(
    (extra_content) => ({ extra_content }),
    SIGNED,
    { path: "messages[1].tool_calls[0].extra_content" },
  ),
  "messages[assistant].extra_content": spoken("extra_content", SIGNED),
  "messages[assistant].function_call.name": spoken("function_call", {
    name: "peek",
    arguments: "{}",
  }, { shown: "peek" }),
  "messages[assistant].function_call.arguments": spoken("function_call", {
    name: "look",
    arguments: '{"city":"Oslo"}',
  }, { shown: "Oslo" }),
  "messages[assistant].reasoning_content": spoken("reasoning_content", "Hm."),
  "messages[assistant].reasoning": spoken("reasoning", "Hm."),
  "messages[assistant].reasoning_details": spoken("reasoning_details", [
    { type: "reasoning.text", text: "Hm.", signature: "S1" },
  ], { shown: "S1" }),
  "messages[assistant].thinking_blocks": spoken("thinking_blocks", [THINKING], { shown: "S1" }),
  "messages[assistant].thinking_blocks[thinking].thinking": spoken("thinking_blocks", [{
    ...THINKING,
    thinking: "Well.",
  }], { shown: "Well." }),
  "messages[assistant].thinking_blocks[thinking].signature": spoken("thinking_blocks", [{
    ...THINKING,
    signature: "S2",
  }], { shown: "S2" }),
  "messages[assistant].thinking_blocks[redacted_thinking].data": spoken("thinking_blocks", [{
    type: "redacted_thinking",
    data: "R1",
  }], { shown: "R1" }),
  "messages[assistant].annotations": spoken("annotations", [{
    type: "url_citation",
    url_citation: CITED,
  }], { shown: "https://a.example/" }),
  "messages[assistant].annotations[url_citation].url_citation.url": inCitation(
    "url",
    "https://b.example/",
  ),
  "messages[assistant].annotations[url_citation].url_citation.title": inCitation("title", "Bee"),
  "messages[assistant].annotations[url_citation].url_citation.start_index": inCitation(
    "start_index",
    1,
  ),
  "messages[assistant].annotations[url_citation].url_citation.end_index": inCitation(
    "end_index",
    2,
  ),
  "messages[assistant].audio": spoken("audio", { id: "audio_1" }, { shown: "audio_1" }),
  "messages[assistant].name": spoken("name", "bob"),
  "messages[assistant].cache_control": spoken("cache_control", CACHE, { shown: "ephemeral" }),
  "messages[tool]": third(CALLED, RESULT, "content", "done"),
  "messages[tool].content": third(CALLED, RESULT, "content", "done"),
  "messages[tool].content[text]": third(CALLED, RESULT, "content", [TEXT], { shown: "See" }),
  "messages[tool].content[image_url]": third(CALLED, RESULT, "content", [TEXT, IMAGE], {
    shown: "iVBORw0K",
  }),
  "messages[tool].content[file]": third(CALLED, RESULT, "content", [FILE], { shown: "JVBERi0x" }),
  "messages[tool].tool_call_id": third(CALLED, RESULT, "tool_call_id", "call_1"),
  "messages[tool].name": third(CALLED, RESULT, "name", "peek"),
  "messages[tool].cache_control": third(CALLED, RESULT, "cache_control", CACHE, {
    shown: "ephemeral",
  }),
  "messages[function]": third(LEGACY, LEGACY_RESULT, "content", "done"),
  "messages[function].content": third(LEGACY, LEGACY_RESULT, "content", "done"),
  "messages[function].content[image_url]": third(LEGACY, LEGACY_RESULT, "content", [IMAGE], {
    shown: "iVBORw0K",
  }),
  "messages[function].name": third(LEGACY, LEGACY_RESULT, "name", "look"),
  "messages[].content[text].text": inPart(".text", "Hello", (text) => ({ type: "text", text })),
  "messages[].content[text].prompt_cache_breakpoint": inPart(
    "",
    MARK,
    (mark) => ({ ...TEXT, prompt_cache_breakpoint: mark }),
    { shown: "explicit" },
  ),
  "messages[].content[text].cache_control": inPart(
    "",
    CACHE,
    (mark) => ({ ...TEXT, cache_control: mark }),
    { shown: "ephemeral" },
  ),
  "messages[].content[image_url].image_url.url": inPart(
    "",
    PNG,
    (url) => ({ type: "image_url", image_url: { url } }),
    { shown: "iVBORw0K" },
  ),
  "messages[].content[image_url].image_url.detail": inPart(
    "",
    "high",
    (detail) => ({ type: "image_url", image_url: { url: PNG, detail } }),
    { values: { local: "low" } },
  ),
  "messages[].content[image_url].prompt_cache_breakpoint": inPart(
    "",
    MARK,
    (mark) => ({ ...IMAGE, prompt_cache_breakpoint: mark }),
    { shown: "explicit" },
  ),
  "messages[].content[image_url].cache_control": inPart(
    "",
    CACHE,
    (mark) => ({ ...IMAGE, cache_control: mark }),
    { shown: "ephemeral" },
  ),
  "messages[].content[file].file.file_id": inPart(
    "",
    "file_1",
    (file_id) => ({ type: "file", file: { ...FILE.file, file_id } }),
  ),
  "messages[].content[file].file.filename": inPart(
    "",
    "b.pdf",
    (filename) => ({ type: "file", file: { file_data: PDF, filename } }),
  ),
  "messages[].content[file].file.file_data": inPart(
    "",
    PDF,
    (file_data) => ({ type: "file", file: { file_data } }),
    { shown: "JVBERi0x" },
  ),
  "messages[].content[file].prompt_cache_breakpoint": inPart(
    "",
    MARK,
    (mark) => ({ ...FILE, prompt_cache_breakpoint: mark }),
    { shown: "explicit" },
  ),
  "messages[].content[file].cache_control": inPart(
    "",
    CACHE,
    (mark) => ({ ...FILE, cache_control: mark }),
    { shown: "ephemeral" },
  ),
  "cache_control.type": first("user", "cache_control", { type: "ephemeral" }, {
    shown: "ephemeral",
  }),
  "cache_control.ttl": first("user", "cache_control", { type: "ephemeral", ttl: "1h" }, {
    shown: "1h",
  }),
  "stream": top("stream", true, { shown: '"stream":true' }),
  "stream_options": top("stream_options", { include_usage: true }, {
    shown: "",
    always: TRANSLATED,
  }),
  "stream_options.include_usage": inside(
    "stream_options",
    "stream_options",
    true,
    (include_usage) => ({ include_usage }),
    { shown: "", always: TRANSLATED },
  ),
  "stream_options.include_obfuscation": inside(
    "stream_options",
    "stream_options",
    true,
    (include_obfuscation) => ({ include_obfuscation }),
  ),
  "max_completion_tokens": top("max_completion_tokens", 77),
  "max_tokens": {
    path: "max_tokens",
    value: 77,
    body: (given, wire) => ({
      messages: [USER],
      max_tokens: given,
      ...wire === "responses" && { max_completion_tokens: 99 },
    }),
  },
  "temperature": top("temperature", 0.25),
  "top_p": top("top_p", 0.25),
  "top_k": top("top_k", 77),
  "n": top("n", 2),
  "stop": top("stop", ["END"], { shown: "END" }),
  "seed": top("seed", 77),
  "presence_penalty": top("presence_penalty", 0.25),
  "frequency_penalty": top("frequency_penalty", 0.25),
  "logit_bias": top("logit_bias", { "50256": -1 }, { shown: "50256" }),
  "logprobs": top("logprobs", true, { shown: "logprobs" }),
  "top_logprobs": {
    path: "top_logprobs",
    value: 3,
    body: (given, wire) => ({
      messages: [USER],
      ...(wire === "responses" || wire === "compat") && { logprobs: true },
      top_logprobs: given,
    }),
  },
  "tools": top("tools", [TOOL], { shown: "look" }),
  "tools[function]": top("tools", [TOOL], { shown: "look" }),
  "tools[function].function.name": inTool("name", "peek"),
  "tools[function].function.description": inTool("description", "Looks."),
  "tools[function].function.parameters": inTool("parameters", {
    type: "object",
    properties: { city: { type: "string" } },
    additionalProperties: false,
  }, { shown: "city" }),
  "tools[function].function.strict": inTool("strict", true, { shown: '"strict":true' }),
  "tools[function].cache_control": inside(
    "tools[0]",
    "tools",
    CACHE,
    (mark) => [{ ...TOOL, cache_control: mark }],
    { shown: "ephemeral" },
  ),
  "tools[custom]": top("tools", [CUSTOM], { shown: "draw" }),
  "tools[custom].custom.name": inside(
    "tools[0]",
    "tools",
    "paint",
    (name) => [{ type: "custom", custom: { name } }],
  ),
  "tools[custom].custom.description": inside(
    "tools[0]",
    "tools",
    "Paints.",
    (description) => [{ type: "custom", custom: { name: "draw", description } }],
  ),
  "tools[custom].custom.format[text]": inside(
    "tools[0]",
    "tools",
    { type: "text" },
    (format) => [{ type: "custom", custom: { name: "draw", format } }],
    { shown: '"format":{"type":"text"}' },
  ),
  "tools[custom].custom.format[grammar].grammar.definition": inside(
    "tools[0]",
    "tools",
    "start: WORD",
    (
      definition,
    ) => [{
      type: "custom",
      custom: {
        name: "draw",
        format: { type: "grammar", grammar: { definition, syntax: "lark" } },
      },
    }],
  ),
  "tools[custom].custom.format[grammar].grammar.syntax": inside(
    "tools[0]",
    "tools",
    "regex",
    (
      syntax,
    ) => [{
      type: "custom",
      custom: { name: "draw", format: { type: "grammar", grammar: { definition: "a", syntax } } },
    }],
  ),
  "tool_choice": top("tool_choice", "none", {
    ...TOOLS,
    shown: { compat: "none", responses: "none", messages: "none", local: "" },
  }),
  "tool_choice=auto": top("tool_choice", "auto", TOOLS),
  "tool_choice=none": top("tool_choice", "none", {
    ...TOOLS,
    shown: { compat: "none", responses: "none", messages: "none", local: "" },
  }),
  "tool_choice=required": top("tool_choice", "required", {
    ...TOOLS,
    shown: { compat: "required", responses: "required", messages: '"any"' },
  }),
  "tool_choice[function].function.name": top("tool_choice", {
    type: "function",
    function: { name: "look" },
  }, { ...TOOLS, shown: "look" }),
  "tool_choice[custom].custom.name": top("tool_choice", CUSTOM, {
    base: { tools: [CUSTOM] },
    shown: "draw",
  }),
  "tool_choice[allowed_tools].allowed_tools.mode": top("tool_choice", {
    type: "allowed_tools",
    allowed_tools: { mode: "required", tools: [TOOL] },
  }, { ...TOOLS, shown: "required" }),
  "tool_choice[allowed_tools].allowed_tools.tools": top("tool_choice", {
    type: "allowed_tools",
    allowed_tools: { mode: "auto", tools: [TOOL] },
  }, { ...TOOLS, shown: "look" }),
  "parallel_tool_calls": top("parallel_tool_calls", false, {
    ...TOOLS,
    shown: "parallel_tool",
  }),
  "functions": top("functions", [{ name: "look" }], { shown: "look" }),
  "functions[].name": inside("functions[0].name", "functions", "peek", (name) => [{ name }]),
  "functions[].description": inside(
    "functions[0].description",
    "functions",
    "Looks.",
    (description) => [{ name: "look", description }],
  ),
  "functions[].parameters": inside(
    "functions[0].parameters",
    "functions",
    {
      type: "object",
      properties: { city: { type: "string" } },
      additionalProperties: false,
    },
    (parameters) => [{ name: "look", parameters }],
    { shown: "city" },
  ),
  "functions[].strict": inside(
    "functions[0].strict",
    "functions",
    true,
    (strict) => [{ name: "look", strict }],
    { shown: '"strict":true' },
  ),
  "function_call": top("function_call", "none", {
    ...FUNCTIONS,
    shown: { compat: "none", responses: "none", messages: "none", local: "" },
  }),
  "function_call=auto": top("function_call", "auto", { ...FUNCTIONS, always: ["messages"] }),
  "function_call=none": top("function_call", "none", {
    ...FUNCTIONS,
    shown: { compat: "none", responses: "none", messages: "none", local: "" },
  }),
  "function_call.name": top("function_call", { name: "look" }, { ...FUNCTIONS, shown: "look" }),
  "response_format": SCHEMA_FORMAT,
  "response_format[text]": top("response_format", { type: "text" }, { shown: '{"type":"text"}' }),
  "response_format[json_object]": top("response_format", { type: "json_object" }, {
    shown: { compat: "json_object", responses: "json_object", local: '"format":"json"' },
  }),
  "response_format[json_schema]": SCHEMA_FORMAT,
  "response_format[json_schema].json_schema.name": inFormat("name", "reply"),
  "response_format[json_schema].json_schema.description": inFormat("description", "A reply."),
  "response_format[json_schema].json_schema.schema": inFormat("schema", { title: "Kept" }, {
    shown: "Kept",
  }),
  "response_format[json_schema].json_schema.strict": inFormat("strict", false, {
    shown: '"strict":false',
  }),
  "reasoning_effort": top("reasoning_effort", "low"),
  "reasoning": top("reasoning", { effort: "low" }, { shown: "low" }),
  "reasoning.effort": inside("reasoning", "reasoning", "low", (effort) => ({ effort })),
  "thinking": top("thinking", { type: "disabled" }, {
    shown: { compat: "disabled", messages: "disabled", local: '"think":false' },
  }),
  "thinking[enabled]": top("thinking", { type: "enabled", budget_tokens: 2048 }, { shown: "2048" }),
  "thinking[adaptive]": top("thinking", { type: "adaptive" }, { shown: "adaptive" }),
  "thinking[adaptive].display": inside(
    "thinking",
    "thinking",
    "omitted",
    (display) => ({ type: "adaptive", display }),
  ),
  "thinking[disabled]": top("thinking", { type: "disabled" }, {
    shown: { compat: "disabled", messages: "disabled", local: '"think":false' },
  }),
  "verbosity": top("verbosity", "low"),
  "modalities": top("modalities", ["text", "audio"], { shown: "audio" }),
  "audio": top("audio", { voice: "alloy", format: "wav" }, { shown: "alloy" }),
  "prediction": top("prediction", { type: "content", content: "x1" }, { shown: "x1" }),
  "web_search_options": top("web_search_options", { search_context_size: "high" }, {
    shown: "high",
  }),
  "web_search_options.search_context_size": inside(
    "web_search_options",
    "web_search_options",
    "high",
    (search_context_size) => ({ search_context_size }),
  ),
  "web_search_options.user_location[approximate].approximate.country": inLocation("country", "NO"),
  "web_search_options.user_location[approximate].approximate.region": inLocation("region", "Viken"),
  "web_search_options.user_location[approximate].approximate.city": inLocation("city", "Oslo"),
  "web_search_options.user_location[approximate].approximate.timezone": inLocation(
    "timezone",
    "Europe/Oslo",
  ),
  "service_tier": top("service_tier", "flex", {
    values: { messages: "default" },
    shown: { compat: "flex", responses: "flex", messages: "standard_only" },
  }),
  "user": top("user", "user-1"),
  "safety_identifier": top("safety_identifier", "safe-1"),
  "cache_control": top("cache_control", CACHE, { shown: "ephemeral" }),
  "prompt_cache_key": top("prompt_cache_key", "key-1"),
  "prompt_cache_retention": top("prompt_cache_retention", "24h"),
  "prompt_cache_options": top("prompt_cache_options", { mode: "explicit" }, { shown: "explicit" }),
  "moderation": top("moderation", { model: "mod-1" }, { shown: "mod-1" }),
  "metadata": top("metadata", { team: "blue" }, { shown: "blue" }),
  "store": top("store", true, { shown: '"store":true' }),
};
