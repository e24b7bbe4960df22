import { assert, assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { isObject } from "../../../src/core/json/json.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { bodyOf, encodeFields } from "./target.ts";

function turns(...messages: readonly unknown[]): unknown {
  const body = bodyOf(encodeFields({ messages }));
  assert(isObject(body));
  return body.messages;
}

function call(id: string, name: string, args: string): Record<string, unknown> {
  return { id, type: "function", function: { name, arguments: args } };
}

const CALLED = { role: "assistant", content: null, tool_calls: [call("c1", "f", "{}")] };

const SAME: readonly (readonly [chat: unknown, local: unknown])[] = [
  [{ role: "system", content: "s" }, { role: "system", content: "s" }],
  [{ role: "developer", content: "s" }, { role: "system", content: "s" }],
  [{ role: "user", content: " \n" }, { role: "user", content: " \n" }],
  [
    { role: "user", content: [{ type: "text", text: "a" }, { type: "text", text: "b" }] },
    { role: "user", content: "ab" },
  ],
  [{ role: "assistant" }, { role: "assistant", content: "" }],
  [{ role: "assistant", content: null }, { role: "assistant", content: "" }],
  [
    { role: "assistant", content: null, refusal: "no" },
    { role: "assistant", content: "no" },
  ],
  [
    {
      role: "assistant",
      content: [{ type: "text", text: "a" }, { type: "refusal", refusal: "b" }],
    },
    { role: "assistant", content: "ab" },
  ],
  [
    { role: "assistant", content: "a", reasoning_content: "why" },
    { role: "assistant", content: "a", thinking: "why" },
  ],
  [
    {
      role: "assistant",
      content: "a",
      reasoning_content: "",
      refusal: null,
      annotations: [],
      audio: null,
      tool_calls: null,
      function_call: null,
      thinking_blocks: [],
      name: null,
    },
    { role: "assistant", content: "a" },
  ],
  [
    { role: "function", name: "f", content: "r" },
    { role: "tool", content: "r", tool_name: "f" },
  ],
];

Deno.test("each type of message keeps its position, role and text", () => {
  for (const [chat, local] of SAME) {
    assertEquals<unknown>(turns(chat, chat), [local, local]);
  }
});

Deno.test("tool calls have their arguments as objects, with exact numbers", () => {
  const calls = [call("c1", "f", '{"a":1.0}'), call("c2", "g", ""), call("c3", "f", " ")];
  const text = valueOf(encodeFields({ messages: [{ role: "assistant", tool_calls: calls }] }));
  assertStringIncludes(
    text,
    '{"role":"assistant","content":"","tool_calls":[' +
      '{"id":"c1","function":{"index":0,"name":"f","arguments":{"a":1.0}}},' +
      '{"id":"c2","function":{"index":1,"name":"g","arguments":{}}},' +
      '{"id":"c3","function":{"index":2,"name":"f","arguments":{}}}]}',
  );
});

Deno.test("a call assembled from chunks may have their index", () => {
  const tool_calls = [{ index: 0, ...call("c1", "f", "{}") }];
  assertEquals(turns({ ...CALLED, tool_calls }), turns(CALLED));
});

Deno.test("results have the function name of their call, in their order", () => {
  const calls = [call("c1", "f", "{}"), call("c2", "g", "{}")];
  assertEquals<unknown>(
    turns(
      { role: "assistant", tool_calls: calls },
      { role: "tool", tool_call_id: "c2", content: "2" },
      { role: "tool", tool_call_id: "c1", name: "f", content: [{ type: "text", text: "1" }] },
    ),
    [
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "c1", function: { index: 0, name: "f", arguments: {} } },
          { id: "c2", function: { index: 1, name: "g", arguments: {} } },
        ],
      },
      { role: "tool", content: "2", tool_name: "g", tool_call_id: "c2" },
      { role: "tool", content: "1", tool_name: "f", tool_call_id: "c1" },
    ],
  );
});

Deno.test("a legacy call becomes a call without an ID", () => {
  assertEquals<unknown>(
    turns({ role: "assistant", function_call: { name: "f", arguments: '{"a":1}' } }),
    [{
      role: "assistant",
      content: "",
      tool_calls: [{ function: { index: 0, name: "f", arguments: { a: 1 } } }],
    }],
  );
});

const UNSUPPORTED: readonly (readonly [message: Record<string, unknown>, path: string])[] = [
  [{ role: "assistant", audio: { id: "a" } }, "audio"],
  [{ role: "assistant", content: "a", annotations: [{}] }, "annotations[0].type"],
  [{ role: "assistant", content: "a", thinking_blocks: [{}] }, "thinking_blocks"],
  [{ role: "assistant", tool_calls: [{ id: "c", type: "mcp" }] }, "tool_calls[0].type"],
  [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }, "content[0].type"],
  [{ role: "user", content: [{ type: "file", file: {} }] }, "content[0].type"],
  [{ role: "user", content: [{ type: "refusal", refusal: "r" }] }, "content[0].type"],
  [{ role: "assistant", content: [{ type: "image_url", image_url: {} }] }, "content[0].type"],
  [
    { role: "user", content: [{ type: "text", text: "a", more: {} }] },
    "content[0].more",
  ],
];

Deno.test("message content that cannot be translated is refused with its path", () => {
  for (const [message, path] of UNSUPPORTED) {
    assertFailed(
      encodeFields({ messages: [{ role: "user", content: "" }, message] }),
      "unsupported_feature",
      `messages[1].${path}`,
    );
  }
});

Deno.test("malformed messages are refused with their path", () => {
  const one = (message: unknown) => encodeFields({ messages: [CALLED, message] });
  assertFailed(one("x"), "invalid_type", "messages[1]");
  assertFailed(one({ role: "robot", content: "" }), "invalid_value", "messages[1].role");
  assertFailed(one({ role: "user" }), "missing_required_parameter", "messages[1].content");
  assertFailed(one({ role: "user", content: 1 }), "invalid_type", "messages[1].content");
  assertFailed(one({ role: "user", content: ["a"] }), "invalid_type", "messages[1].content[0]");
  assertFailed(
    one({ role: "tool", content: "" }),
    "missing_required_parameter",
    "messages[1].tool_call_id",
  );
  assertFailed(
    one({ role: "tool", content: "", tool_call_id: "c9" }),
    "invalid_value",
    "messages[1].tool_call_id",
  );
  for (const args of ["[]", "{", "1", "null"]) {
    assertFailed(
      one({ role: "assistant", tool_calls: [call("c2", "f", args)] }),
      "invalid_value",
      "messages[1].tool_calls[0].function.arguments",
    );
  }
});

Deno.test("a request without messages is refused, because the runtime would respond without generating", () => {
  assertFailed(encodeFields({ messages: [] }), "invalid_value", "messages");
});

Deno.test("each of many results of one call has the beginning of its long name alone", () => {
  const name = "f".repeat(1000);
  const called = { role: "assistant", content: null, tool_calls: [call("c1", name, "{}")] };
  const result = { role: "tool", tool_call_id: "c1", content: "r" };
  const [, ...results] = turns(called, result, result) as readonly unknown[];
  const tool = { role: "tool", content: "r", tool_name: "f".repeat(256), tool_call_id: "c1" };
  assertEquals(results, [tool, tool]);
});
