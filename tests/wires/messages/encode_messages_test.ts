import { createHash } from "node:crypto";
import { isObject } from "../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { valueOf, type Written } from "../../support/translated.ts";
import { encodeMessages, encodeRequest, encodeText } from "./encoded_request.ts";

const USER = { role: "user", content: "Hi" };
const CACHE = { cache_control: { type: "ephemeral" } };

function text(content: string, members: Written = {}): Written {
  return { type: "text", text: content, ...members };
}

function call(id: string, args = "{}"): Written {
  return { id, type: "function", function: { name: "f", arguments: args } };
}

function use(id: string, input: Written = {}): Written {
  return { type: "tool_use", id, name: "f", input };
}

function result(tool_use_id: string, content: unknown): Written {
  return { type: "tool_result", tool_use_id, content };
}

/** Instructions next to one user message. */
const SYSTEM: readonly [messages: readonly Written[], system: unknown][] = [
  [[{ role: "system", content: " Be brief.\n" }, USER], " Be brief.\n"],
  [[{ role: "developer", content: [text("a"), text(""), text("b")] }, USER], [
    text("a"),
    text("b"),
  ]],
  [[{ role: "system", content: "a" }, USER, { role: "developer", content: "b" }], [
    text("a"),
    text("b"),
  ]],
  [[{ role: "system", content: "" }, { role: "system", content: [text(" \n")] }, USER], undefined],
  [[{ role: "system", content: "a", ...CACHE }, USER], [text("a", CACHE)]],
];

Deno.test("instructions become the system text, in order, without blank ones", () => {
  for (const [messages, system] of SYSTEM) {
    const sent = valueOf(encodeMessages(messages));
    assertEquals<unknown>(sent, { ...system !== undefined && { system }, messages: [USER] });
  }
});

const THINKING = { type: "thinking", thinking: "", signature: "s" };
const REDACTED = { type: "redacted_thinking", data: "d" };

/** Assistant messages after "Hi", with their translation. */
const ASSISTANT: readonly [message: Written, content: unknown][] = [
  [{ content: "Ok " }, "Ok "],
  [{ content: "" }, ""],
  [{ content: null, refusal: null, annotations: [], function_call: null }, ""],
  [{ content: [text("a"), text("")] }, [text("a")]],
  [{ content: [{ type: "refusal", refusal: "no" }] }, [text("no")]],
  [{ content: "a", refusal: "no" }, [text("a"), text("no")]],
  [{ content: "", tool_calls: [call("c1", " ")] }, [use("c1")]],
  [{ tool_calls: [{ ...call("c1", '{"a":{"b":1}}'), index: 0 }] }, [use("c1", { a: { b: 1 } })]],
  [{
    content: "Ok",
    reasoning_content: "hm",
    thinking_blocks: [THINKING, REDACTED],
    tool_calls: [call("c1"), call("c2")],
  }, [THINKING, REDACTED, text("Ok"), use("c1"), use("c2")]],
  [{ content: "a", ...CACHE }, [text("a", CACHE)]],
];

Deno.test("an assistant message is sent as thinking, text and calls", () => {
  for (const [message, content] of ASSISTANT) {
    const sent = valueOf(encodeMessages([USER, { role: "assistant", ...message }]));
    assertEquals<unknown>(sent, { messages: [USER, { role: "assistant", content }] });
  }
});

Deno.test("results of one turn are sent as one user message, before its other content", () => {
  const sent = valueOf(encodeMessages([
    USER,
    { role: "assistant", tool_calls: [call("c1"), call("c2")] },
    { role: "user", content: "Sum." },
    { role: "tool", tool_call_id: "c1", content: "1", name: "f" },
    { role: "tool", tool_call_id: "c2", content: [text("2"), text("")] },
    { role: "user", content: "Now." },
  ]));
  assertEquals<unknown>(sent, {
    messages: [USER, { role: "assistant", content: [use("c1"), use("c2")] }, {
      role: "user",
      content: [result("c1", "1"), result("c2", [text("2")]), text("Sum."), text("Now.")],
    }],
  });
});

Deno.test("adjacent messages of one role become one message, without a separator", () => {
  const sent = valueOf(encodeMessages([
    USER,
    { role: "system", content: "s" },
    { role: "user", content: [text("there")] },
    { role: "assistant", content: "a" },
    { role: "assistant", content: "" },
  ]));
  assertEquals<unknown>(sent.messages, [
    { role: "user", content: [text("Hi"), text("there")] },
    { role: "assistant", content: [text("a")] },
  ]);
});

Deno.test("a legacy call and its result have the same ID", () => {
  const sent = valueOf(encodeMessages([
    USER,
    { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
    { role: "function", name: "f", content: "1" },
    { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
    { role: "function", name: "f", content: "2" },
  ]));
  assertEquals<unknown>(sent.messages, [
    USER,
    { role: "assistant", content: [use("function_call_1")] },
    { role: "user", content: [result("function_call_1", "1")] },
    { role: "assistant", content: [use("function_call_3")] },
    { role: "user", content: [result("function_call_3", "2")] },
  ]);
});

Deno.test("invalid IDs are replaced equally in the call and its result", () => {
  const ids = ["functions.Bash:0", "a.b", "a:b", "a b", "", "é|"];
  const sent = valueOf(encodeMessages([
    USER,
    { role: "assistant", tool_calls: ids.map((id) => call(id)) },
    ...ids.map((id) => ({ role: "tool", tool_call_id: id, content: "" })),
  ]));
  assert(Array.isArray(sent.messages));
  const [calls, results] = sent.messages.slice(1).map((message) => {
    assert(isObject(message) && Array.isArray(message.content));
    return message.content.map((block) =>
      isObject(block) ? String(block.id ?? block.tool_use_id) : ""
    );
  });
  assertEquals(calls, results);
  assertEquals(new Set(calls).size, ids.length);
  assert(calls?.every((id) => /^[a-zA-Z0-9_-]+$/.test(id)));
  const hash = createHash("sha256").update("a.b").digest("hex").slice(0, 8);
  assertEquals(calls?.[1], `a_b_${hash}`);
});

Deno.test("numbers in arguments keep their text", () => {
  const args = '{"a":12345678901234567890,"b":1.0,"c":-0,"d":1e400}';
  const request = JSON.stringify({
    messages: [USER, { role: "assistant", tool_calls: [call("c", args)] }],
  });
  const sent = valueOf(encodeText(request));
  assert(sent.includes(`"input":${args}`), sent);
});

Deno.test("a conversation with tools is sent in the form that the API requires", () => {
  const parameters = { type: "object", properties: { a: { type: "number" } } };
  const body = valueOf(encodeRequest({
    max_completion_tokens: 50,
    stop: "END",
    parallel_tool_calls: false,
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "2+2, 3+3?" },
      { role: "assistant", content: null, tool_calls: [call("c1", '{"a":2}'), call("c.2")] },
      { role: "tool", tool_call_id: "c1", content: "4" },
      { role: "tool", tool_call_id: "c.2", content: "6" },
      { role: "user", content: "Sum them." },
    ],
    tools: [{ type: "function", function: { name: "f", parameters } }],
  }));
  const id = `c_2_${createHash("sha256").update("c.2").digest("hex").slice(0, 8)}`;
  assertEquals<unknown>(body, {
    model: "m",
    max_tokens: 50,
    stop_sequences: ["END"],
    system: "Be brief.",
    messages: [
      { role: "user", content: "2+2, 3+3?" },
      { role: "assistant", content: [use("c1", { a: 2 }), use(id)] },
      { role: "user", content: [result("c1", "4"), result(id, "6"), text("Sum them.")] },
    ],
    tools: [{ name: "f", input_schema: parameters }],
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
  });
});

Deno.test("a key that is a JavaScript property name is sent like any other key", () => {
  const sent = valueOf(encodeText(
    '{"messages":[{"role":"user","content":"Hi"},{"role":"assistant","tool_calls":' +
      '[{"id":"c","function":{"name":"f","arguments":"{\\"__proto__\\":{\\"a\\":1}}"}}]}]}',
  ));
  assert(sent.includes('"input":{"__proto__":{"a":1}}'), sent);
});

Deno.test("150,000 adjacent messages of one role become one message, and so do as many instructions", () => {
  const count = 150_000;
  const users = Array.from({ length: count }, () => ({ role: "user", content: "Hi" }));
  const rules = { role: "system", content: users.map(() => ({ type: "text", text: "Be kind." })) };
  const { system, messages } = valueOf(encodeMessages([rules, ...users]));
  assertEquals([lengthOf(system), lengthOf(messages)], [count, 1]);
  const [turn] = Array.isArray(messages) ? messages : [];
  assertEquals(lengthOf(isObject(turn) ? turn.content : null), count);
});

Deno.test("5,000 legacy function calls are matched with their results in any order", () => {
  const names = Array.from({ length: 5_000 }, (_, at) => `f${at}`);
  const calls = names.map((name) => ({
    role: "assistant",
    content: null,
    function_call: { name, arguments: "{}" },
  }));
  const results = names.map((name) => ({ role: "function", name, content: "1" }));
  const user = { role: "user", content: "Hi" };
  const { messages } = valueOf(encodeMessages([user, ...calls, ...results]));
  const [, , third] = Array.isArray(messages) ? messages : [];
  assertEquals(lengthOf(isObject(third) ? third.content : null), names.length);
});

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : -1;
}
