import { assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf, type Written } from "../../support/translated.ts";
import { encodeRequest } from "./encoded_request.ts";

function call(id: string, name: string): Written {
  return { id, type: "function", function: { name, arguments: "{}" } };
}

function result(id: string): Written {
  return { role: "tool", tool_call_id: id, content: "done" };
}

/** A conversation that an agent without tools continues. */
const HISTORY = [
  { role: "user", content: "Hi" },
  { role: "assistant", tool_calls: [call("c1", "weather"), call("c2", "time")] },
  result("c1"),
  result("c2"),
  { role: "assistant", tool_calls: [call("c3", "weather")] },
  result("c3"),
];
const OPEN = { type: "object" };
const DECLARED = [{ name: "weather", input_schema: OPEN }, { name: "time", input_schema: OPEN }];

Deno.test("tools of earlier calls are declared by name, and none may be called", () => {
  for (
    const fields of [{}, { tools: [] }, { tools: null, tool_choice: "auto" }, {
      tool_choice: "none",
      parallel_tool_calls: false,
    }]
  ) {
    const { tools, tool_choice } = valueOf(encodeRequest({ messages: HISTORY, ...fields }));
    assertEquals<unknown>([tools, tool_choice], [DECLARED, { type: "none" }]);
  }
});

Deno.test("tools of earlier legacy calls are declared too", () => {
  const { tools } = valueOf(encodeRequest({
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "done" },
    ],
  }));
  assertEquals<unknown>(tools, [{ name: "f", input_schema: OPEN }]);
});

Deno.test("tools that a request declares are sent as they are", () => {
  const declared = [{ type: "function", function: { name: "weather" } }];
  const { tools, tool_choice } = valueOf(encodeRequest({ messages: HISTORY, tools: declared }));
  const input_schema = { type: "object", properties: {} };
  assertEquals<unknown>([tools, tool_choice], [[{ name: "weather", input_schema }], undefined]);
});

Deno.test("nothing is declared without earlier calls, nor for a name that no tool may have", () => {
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", tool_calls: [call("c1", "a.b")] },
    result("c1"),
  ];
  for (const list of [messages, messages.slice(0, 1)]) {
    const body = valueOf(encodeRequest({ messages: list }));
    assertEquals([body.tools, body.tool_choice], [undefined, undefined]);
  }
});

Deno.test("a call cannot be forced over tools that only the history names", () => {
  const refused = encodeRequest({ messages: HISTORY, tool_choice: "required" });
  assertFailed(refused, "invalid_value", "tool_choice");
});
