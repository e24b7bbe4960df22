import type { ResponsesField } from "../../../../src/api/responses/parse/fields.ts";
import { sealThinking } from "../../../../src/api/reasoning/sealed_thinking.ts";
import type { JsonValue } from "../../../../src/core/json/json.ts";
import type { WireName } from "../../../../src/wires/wire.ts";
import type { Written } from "../../../support/translated.ts";

/** A request that has one field, and what the upstream must get of it. */
export interface Probe {
  /** Path of the field, or of the object around it, in the client's request. */
  readonly path: string;
  readonly value: JsonValue;
  /** Values of the targets that treat `value` differently from the mark. */
  readonly values?: Readonly<Partial<Record<WireName, JsonValue>>>;
  /** Returns the request with a value of the field; undefined leaves it out. */
  body(value: JsonValue | undefined, wire: WireName): Written;
  /** Text of the encoded request for the value, if it differs from the value itself. */
  readonly shown?: string | Readonly<Partial<Record<WireName, string>>>;
  /** True if the gateway serves the field itself: the upstream gets the same request without it. */
  readonly byGateway?: boolean;
}

const PNG = "data:image/png;base64,iVBORw0K";
const PDF = "data:application/pdf;base64,JVBERi0x";
const USER = { role: "user", content: "Hi" };
const CALL = { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" };
const RESULT = { type: "function_call_output", call_id: "call_1", output: "ok" };
const TOOL = { type: "function", name: "look" };
const CUSTOM_CALL = { type: "custom_tool_call", call_id: "call_1", name: "draw", input: "x" };
const CUSTOM_RESULT = { type: "custom_tool_call_output", call_id: "call_1", output: "ok" };
const CUSTOM = { type: "custom", name: "draw" };
const BLOCK = { type: "thinking", thinking: "Hm.", signature: "S1" };
const MARK = { mode: "explicit" };
const CALLER = { type: "program", caller_id: "p" };
const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" } },
  additionalProperties: false,
};

type More = Partial<Omit<Probe, "body">> & { readonly base?: Written };

/** A top-level field. */
function top(path: string, value: JsonValue, more: More = {}): Probe {
  const { base = {}, ...rest } = more;
  return { path, value, body: (given) => ({ input: "Hi", ...base, [path]: given }), ...rest };
}

/** A field inside a top-level field. */
function inside(
  path: string,
  field: string,
  value: JsonValue,
  make: (given: JsonValue | undefined) => unknown,
  more: More = {},
): Probe {
  const { base = {}, ...rest } = more;
  const body = (given: JsonValue | undefined) => ({ input: "Hi", ...base, [field]: make(given) });
  return { path, value, body, ...rest };
}

/** An input list that `make` returns for the value. */
function items(
  path: string,
  value: JsonValue,
  make: (given: JsonValue | undefined) => readonly Written[],
  more: More = {},
): Probe {
  return { path, value, body: (given) => ({ input: make(given) }), ...more };
}

function inMessage(member: string, value: JsonValue, more: More = {}): Probe {
  return items(
    `input[0].${member}`,
    value,
    (given) => [{ type: "message", ...USER, [member]: given }],
    more,
  );
}

function role(name: string): Probe {
  const make = (given: JsonValue | undefined) => [
    USER,
    { role: name, content: given },
    ...name === "assistant" ? [] : [USER],
  ];
  return items("input[1]", "Be brief.", make);
}

function inPart(
  below: string,
  value: JsonValue,
  make: (given: JsonValue | undefined) => Written,
  more: More = {},
): Probe {
  return items(
    `input[0].content[0]${below}`,
    value,
    (given) => [{ role: "user", content: [make(given)] }],
    more,
  );
}

function spoken(
  below: string,
  value: JsonValue,
  make: (given: JsonValue | undefined) => Written,
  more: More = {},
): Probe {
  return items(
    `input[1].content${below}`,
    value,
    (given) => [USER, { role: "assistant", content: [make(given)] }, USER],
    more,
  );
}

function refusedPart(type: string): Probe {
  return inPart(
    ".type",
    type,
    (given) => given === undefined ? { type: "input_text", text: "x" } : { type: given, text: "x" },
  );
}

function inCall(member: string, value: JsonValue, more: More = {}): Probe {
  return items(`input[1].${member}`, value, (given) => [
    USER,
    { ...CALL, [member]: given },
    { ...RESULT, ...member === "call_id" && { call_id: given } },
  ], more);
}

function inResult(member: string, value: JsonValue, more: More = {}): Probe {
  return items(
    `input[2].${member}`,
    value,
    (given) => [USER, CALL, { ...RESULT, [member]: given }],
    more,
  );
}

function inCustomCall(member: string, value: JsonValue, more: More = {}): Probe {
  return items(`input[1].${member}`, value, (given) => [
    USER,
    { ...CUSTOM_CALL, [member]: given },
    { ...CUSTOM_RESULT, ...member === "call_id" && { call_id: given } },
  ], more);
}

function inCustomResult(member: string, value: JsonValue, more: More = {}): Probe {
  const make = (given: JsonValue | undefined) => [
    USER,
    CUSTOM_CALL,
    { ...CUSTOM_RESULT, [member]: given },
  ];
  return items(`input[2].${member}`, value, make, more);
}

function inCustomTool(member: string, value: JsonValue, more: More = {}): Probe {
  const make = (given: JsonValue | undefined) => [{ ...CUSTOM, [member]: given }];
  return inside(`tools[0].${member}`, "tools", value, make, more);
}

function inGrammar(member: string, value: string): Probe {
  const format = { type: "grammar", syntax: "lark", definition: "start: /a/" };
  const make = (given: JsonValue | undefined) => [
    { ...CUSTOM, ...given !== undefined && { format: { ...format, [member]: given } } },
  ];
  return inside("tools[0].format", "tools", value, make);
}

/** A member of an item that declares tools, before the dialogue. */
function inAdditional(member: string, value: JsonValue, more: More = {}): Probe {
  const item = { type: "additional_tools", role: "developer", tools: [] };
  return items("input[0]", value, (given) => [
    { ...item, ...given !== undefined && { [member]: given } },
    USER,
  ], more);
}

function inReasoning(member: string, value: JsonValue, more: More = {}, base: Written = {}): Probe {
  return items(`input[1]`, value, (given) => [
    USER,
    { type: "reasoning", summary: [], ...base, [member]: given },
    { role: "assistant", content: "Yes" },
    USER,
  ], more);
}

function inTool(member: string, value: JsonValue, more: More = {}): Probe {
  return inside(
    `tools[0].${member}`,
    "tools",
    value,
    (given) => [{ ...TOOL, [member]: given }],
    more,
  );
}

function inNamespace(member: string, value: JsonValue, more: More = {}): Probe {
  const make = (given: JsonValue | undefined) => [
    { type: "namespace", name: "home", tools: [TOOL], [member]: given },
  ];
  return inside("tools[0]", "tools", value, make, more);
}

/**
 * A JSON Schema format. Its name, which is required, is lost in the request without the field too.
 */
function inFormat(member: string, value: JsonValue, more: More = {}): Probe {
  const make = (given: JsonValue | undefined) => ({
    format: {
      type: "json_schema",
      name: "answer",
      schema: { type: "object", additionalProperties: false },
      ...(member === "name" || given !== undefined) && { [member]: given },
    },
  });
  return inside(`text.format.${member}`, "text", value, make, more);
}

function inReasoningOptions(member: string, value: JsonValue): Probe {
  return inside(`reasoning.${member}`, "reasoning", value, (given) => ({ [member]: given }));
}

const TOOLS = { base: { tools: [TOOL] } };
const NONE_SHOWN = { compat: "none", messages: "none", local: "" };
const GATEWAY = { byGateway: true, shown: "" };

/** Probes of the fields that have no variant of items, tools or choices as their last step. */
export const RESPONSES_PROBES: Readonly<Partial<Record<ResponsesField, Probe>>> = {
  "model": top("model", "p/m", { byGateway: true, shown: '"model":"m"' }),
  "instructions": top("instructions", "Be brief."),
  "input": { path: "input", value: "Hello", body: (given) => ({ input: given }) },
  "input[message].role=user": role("user"),
  "input[message].role=system": role("system"),
  "input[message].role=developer": role("developer"),
  "input[message].role=assistant": role("assistant"),
  "input[message].content": inMessage("content", "Hello"),
  "input[message].content[input_text].text": inPart(".text", "Hello", (text) => ({
    type: "input_text",
    text,
  })),
  "input[message].content[input_image].image_url": inPart("", PNG, (image_url) => ({
    type: "input_image",
    image_url,
  }), { shown: "iVBORw0K" }),
  "input[message].content[input_image].detail": inPart("", "high", (detail) => ({
    type: "input_image",
    image_url: PNG,
    detail,
  }), { values: { local: "low" } }),
  "input[message].content[input_image].file_id": inPart(".file_id", "file_1", (file_id) => ({
    type: "input_image",
    image_url: PNG,
    file_id,
  })),
  "input[message].content[input_file].file_id": inPart("", "file_1", (file_id) => ({
    type: "input_file",
    file_data: PDF,
    file_id,
  })),
  "input[message].content[input_file].filename": inPart("", "b.pdf", (filename) => ({
    type: "input_file",
    file_data: PDF,
    filename,
  })),
  "input[message].content[input_file].file_data": inPart("", PDF, (file_data) => ({
    type: "input_file",
    file_data,
  }), { shown: "JVBERi0x" }),
  "input[message].content[input_file].file_url": inPart("", "https://a.example/", (file_url) => ({
    type: "input_file",
    file_data: PDF,
    file_url,
  })),
  "input[message].content[input_file].detail": inPart("", "high", (detail) => ({
    type: "input_file",
    file_data: PDF,
    detail,
  })),
  "input[message].content[output_text].text": spoken("", "I say", (text) => ({
    type: "output_text",
    text,
  })),
  "input[message].content[output_text].annotations": spoken(
    "[0].annotations",
    [{ type: "file_path", file_id: "f", index: 0 }],
    (annotations) => ({ type: "output_text", text: "Yes", annotations }),
  ),
  "input[message].content[output_text].logprobs": spoken(
    "[0].logprobs",
    [{ token: "a", logprob: -1 }],
    (logprobs) => ({ type: "output_text", text: "Yes", logprobs }),
  ),
  "input[message].content[refusal].refusal": spoken("", "Never.", (refusal) => ({
    type: "refusal",
    refusal,
  })),
  "input[message].content[summary_text]": refusedPart("summary_text"),
  "input[message].content[reasoning_text]": refusedPart("reasoning_text"),
  "input[message].content[text]": refusedPart("text"),
  "input[message].content[computer_screenshot]": refusedPart("computer_screenshot"),
  "input[message].content[input_text].prompt_cache_breakpoint": inPart("", MARK, (mark) => ({
    type: "input_text",
    text: "x",
    prompt_cache_breakpoint: mark,
  })),
  "input[message].content[input_image].prompt_cache_breakpoint": inPart("", MARK, (mark) => ({
    type: "input_image",
    image_url: PNG,
    prompt_cache_breakpoint: mark,
  })),
  "input[message].content[input_file].prompt_cache_breakpoint": inPart("", MARK, (mark) => ({
    type: "input_file",
    file_data: PDF,
    prompt_cache_breakpoint: mark,
  })),
  "input[message].phase": inMessage("phase", "commentary"),
  "input[message].status": inMessage("status", "incomplete"),
  "input[message].id": inMessage("id", "msg_1"),
  "input[function_call].call_id": inCall("call_id", "call_7"),
  "input[function_call].name": inCall("name", "peek"),
  "input[function_call].arguments": inCall("arguments", '{"city":"Oslo"}', { shown: "Oslo" }),
  "input[function_call].namespace": inCall("namespace", "home"),
  "input[function_call].caller": inCall("caller", CALLER),
  "input[function_call].status": inCall("status", "incomplete"),
  "input[function_call].id": inCall("id", "fc_1"),
  "input[function_call_output].call_id": inResult("call_id", "call_1"),
  "input[function_call_output].output": inResult("output", "done"),
  "input[function_call_output].output[input_text]": inResult("output", [
    { type: "input_text", text: "done" },
  ], { shown: "done" }),
  "input[function_call_output].output[output_text]": inResult("output", [
    { type: "output_text", text: "done" },
  ], { shown: "done" }),
  "input[function_call_output].output[input_image]": inResult("output", [
    { type: "input_image", image_url: PNG },
  ]),
  "input[function_call_output].output[input_file]": inResult("output", [
    { type: "input_file", file_data: PDF },
  ]),
  "input[custom_tool_call].call_id": inCustomCall("call_id", "call_7"),
  "input[custom_tool_call].name": inCustomCall("name", "paint"),
  "input[custom_tool_call].input": inCustomCall("input", "a line"),
  "input[custom_tool_call].namespace": inCustomCall("namespace", "home"),
  "input[custom_tool_call].caller": inCustomCall("caller", CALLER),
  "input[custom_tool_call].status": inCustomCall("status", "incomplete"),
  "input[custom_tool_call].id": inCustomCall("id", "ctc_1"),
  "input[custom_tool_call_output].call_id": inCustomResult("call_id", "call_1"),
  "input[custom_tool_call_output].output": inCustomResult("output", "done"),
  "input[custom_tool_call_output].output[input_text]": inCustomResult("output", [
    { type: "input_text", text: "done" },
  ], { shown: "done" }),
  "input[custom_tool_call_output].output[output_text]": inCustomResult("output", [
    { type: "output_text", text: "done" },
  ], { shown: "done" }),
  "input[custom_tool_call_output].output[input_image]": inCustomResult("output", [
    { type: "input_image", image_url: PNG },
  ]),
  "input[custom_tool_call_output].output[input_file]": inCustomResult("output", [
    { type: "input_file", file_data: PDF },
  ]),
  "input[custom_tool_call_output].caller": inCustomResult("caller", CALLER),
  "input[custom_tool_call_output].status": inCustomResult("status", "incomplete"),
  "input[custom_tool_call_output].id": inCustomResult("id", "ctco_1"),
  "input[additional_tools].id": inAdditional("id", "at_1"),
  "input[additional_tools].role": inAdditional("role", "user"),
  "input[additional_tools].tools": inAdditional("tools", [TOOL], { shown: "look" }),
  "input[function_call_output].name": inResult("name", "peek"),
  "input[function_call_output].namespace": inResult("namespace", "home"),
  "input[function_call_output].caller": inResult("caller", CALLER),
  "input[function_call_output].status": inResult("status", "incomplete"),
  "input[function_call_output].id": inResult("id", "fco_1"),
  "input[reasoning].content": inReasoning("content", [{ type: "reasoning_text", text: "Hm." }], {
    shown: "Hm.",
  }),
  "input[reasoning].summary": inReasoning(
    "summary",
    [{ type: "summary_text", text: "Short." }],
    {},
    { content: [{ type: "reasoning_text", text: "Hm." }] },
  ),
  "input[reasoning].encrypted_content": inReasoning("encrypted_content", sealThinking([BLOCK]), {
    shown: "S1",
  }),
  "input[reasoning].status": inReasoning("status", "incomplete"),
  "input[reasoning].id": inReasoning("id", "rs_1"),
  "stream": top("stream", true, { shown: '"stream":true' }),
  "stream_options": top("stream_options", { include_obfuscation: false }, GATEWAY),
  "stream_options.include_obfuscation": inside(
    "stream_options",
    "stream_options",
    true,
    (given) => ({
      include_obfuscation: given,
    }),
  ),
  "store": top("store", true, GATEWAY),
  "previous_response_id": top("previous_response_id", "resp_1", GATEWAY),
  "conversation": top("conversation", "conv_1", GATEWAY),
  "conversation.id": top("conversation", { id: "conv_1" }, GATEWAY),
  "metadata": top("metadata", { team: "blue" }, GATEWAY),
  "client_metadata": top("client_metadata", { team: "blue" }),
  "include": top("include", ["reasoning.encrypted_content"], GATEWAY),
  "include[]": top("include[]", ["reasoning.encrypted_content"], GATEWAY),
  "tools": top("tools", [TOOL], { shown: "look" }),
  "tools[function].name": inTool("name", "peek"),
  "tools[function].description": inTool("description", "Looks."),
  "tools[function].parameters": inTool("parameters", SCHEMA, { shown: "city" }),
  "tools[function].strict": inTool("strict", true, { shown: '"strict":true' }),
  "tools[function].defer_loading": inTool("defer_loading", true),
  "tools[function].output_schema": inTool("output_schema", { type: "object" }),
  "tools[function].allowed_callers": inTool("allowed_callers", ["direct", "programmatic"]),
  "tools[function].async": inTool("async", true),
  "tools[custom].name": inCustomTool("name", "paint"),
  "tools[custom].description": inCustomTool("description", "Draws."),
  "tools[custom].format[text]": inCustomTool("format", { type: "text" }),
  "tools[custom].format[grammar].definition": inGrammar("definition", "start: WORD"),
  "tools[custom].format[grammar].syntax": inGrammar("syntax", "regex"),
  "tools[custom].defer_loading": inCustomTool("defer_loading", true),
  "tools[custom].allowed_callers": inCustomTool("allowed_callers", ["direct", "programmatic"]),
  "tools[namespace].name": inNamespace("name", "garage"),
  "tools[namespace].description": inNamespace("description", "Of the home."),
  "tools[namespace].tools": inNamespace("tools", [{ type: "function", name: "peek" }], {
    shown: "peek",
  }),
  "tool_choice": top("tool_choice", "none", { ...TOOLS, shown: NONE_SHOWN }),
  "tool_choice=auto": top("tool_choice", "auto", TOOLS),
  "tool_choice=none": top("tool_choice", "none", { ...TOOLS, shown: NONE_SHOWN }),
  "tool_choice=required": top("tool_choice", "required", {
    ...TOOLS,
    shown: { compat: "required", messages: '"any"' },
  }),
  "tool_choice[function].name": top("tool_choice", TOOL, { ...TOOLS, shown: "look" }),
  "tool_choice[custom].name": top("tool_choice", CUSTOM, {
    base: { tools: [CUSTOM] },
    shown: "draw",
  }),
  "tool_choice[allowed_tools].mode": top(
    "tool_choice",
    { type: "allowed_tools", mode: "required", tools: [TOOL] },
    { ...TOOLS, shown: "required" },
  ),
  "tool_choice[allowed_tools].tools": top(
    "tool_choice",
    { type: "allowed_tools", mode: "auto", tools: [TOOL] },
    { ...TOOLS, shown: "look" },
  ),
  "parallel_tool_calls": top("parallel_tool_calls", false, {
    ...TOOLS,
    shown: "parallel_tool",
  }),
  "max_output_tokens": top("max_output_tokens", 77),
  "temperature": top("temperature", 0.25),
  "top_p": top("top_p", 0.25),
  "presence_penalty": top("presence_penalty", 0.25),
  "frequency_penalty": top("frequency_penalty", 0.25),
  "text": inFormat("schema", { title: "Kept" }, { path: "text", shown: "Kept" }),
  "text.format[text]": top("text", { format: { type: "text" } }),
  "text.format[json_object]": top("text", { format: { type: "json_object" } }, {
    path: "text.format",
    shown: { compat: "json_object", local: '"format":"json"' },
  }),
  "text.format[json_schema].name": inFormat("name", "reply"),
  "text.format[json_schema].description": inFormat("description", "A reply."),
  "text.format[json_schema].schema": inFormat("schema", { title: "Kept" }, { shown: "Kept" }),
  "text.format[json_schema].strict": inFormat("strict", false, { shown: '"strict":false' }),
  "text.verbosity": inside("text.verbosity", "text", "low", (verbosity) => ({ verbosity })),
  "reasoning": top("reasoning", { effort: "low" }, { shown: "low" }),
  "reasoning.effort": inside("reasoning.effort", "reasoning", "low", (effort) => ({ effort })),
  "reasoning.summary": inReasoningOptions("summary", "detailed"),
  "reasoning.generate_summary": inReasoningOptions("generate_summary", "concise"),
  "reasoning.mode": inReasoningOptions("mode", "pro"),
  "reasoning.context": inReasoningOptions("context", "other_turns"),
  "reasoning.context=current_turn": {
    path: "reasoning.context",
    value: "current_turn",
    body: (context) => ({
      input: [
        USER,
        { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm." }] },
        { role: "assistant", content: "Yes" },
        USER,
      ],
      reasoning: { context },
    }),
    shown: "Yes",
  },
  "reasoning.context=all_turns": {
    path: "reasoning.context",
    value: "all_turns",
    body: (context) => ({ input: "Hi", reasoning: { context } }),
    ...GATEWAY,
  },
  "truncation": top("truncation", "auto"),
  "service_tier": top("service_tier", "flex", {
    values: { messages: "default" },
    shown: { compat: "flex", messages: "standard_only" },
  }),
  "user": top("user", "user-1"),
  "safety_identifier": top("safety_identifier", "safe-1"),
  "prompt_cache_key": top("prompt_cache_key", "key-1"),
  "prompt_cache_retention": top("prompt_cache_retention", "24h"),
  "prompt_cache_options": top("prompt_cache_options", { mode: "explicit" }, { shown: "explicit" }),
  "prompt": top("prompt", { id: "pmpt_1" }),
  "max_tool_calls": top("max_tool_calls", 3),
  "context_management": top("context_management", [{ type: "compaction" }]),
  "moderation": top("moderation", { model: "mod-1" }),
  "background": top("background", true),
  "top_logprobs": top("top_logprobs", 3),
};

/** Fields of other APIs, refused because a translation would give them a meaning. */
export const FOREIGN_VALUE = { any: 1 };
