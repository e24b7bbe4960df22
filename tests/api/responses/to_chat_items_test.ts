import type { JsonObject } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { messagesOf } from "./translated.ts";

const USER: JsonObject = { role: "user", content: "q" };

function call(call_id: string, name = "f"): JsonObject {
  return { type: "function_call", call_id, name, arguments: "{}" };
}

function result(call_id: string, output: JsonObject[string] = "ok"): JsonObject {
  return { type: "function_call_output", call_id, output };
}

function called(id: string, name = "f"): JsonObject {
  return { id, type: "function", function: { name, arguments: "{}" } };
}

function answered(tool_call_id: string, content: JsonObject[string] = "ok"): JsonObject {
  return { role: "tool", tool_call_id, content };
}

Deno.test("messages keep their role and their text, including white space", () => {
  for (const role of ["user", "system", "developer", "assistant"]) {
    const whole = { role, content: " a\n " };
    const type = role === "assistant" ? "output_text" : "input_text";
    const parts = { type: "message", role, content: [{ type, text: " a\n " }] };
    for (const item of [whole, parts]) assertEquals(messagesOf([item]), [whole]);
  }
});

Deno.test("content parts of a user message become Chat parts", () => {
  const content = [
    { type: "input_text", text: "a" },
    { type: "input_image", image_url: "data:image/png;base64,AA==" },
    { type: "input_image", image_url: "http://x.test/", detail: "low", file_id: null },
    { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" },
    { type: "input_file", file_id: "file_1" },
  ];
  assertEquals(messagesOf([{ role: "user", content }])[0]?.content, [
    { type: "text", text: "a" },
    { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
    { type: "image_url", image_url: { url: "http://x.test/", detail: "low" } },
    { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } },
    { type: "file", file: { file_id: "file_1" } },
  ]);
});

Deno.test("text parts of an assistant message are concatenated, and its refusal stays separate", () => {
  const content = [
    { type: "output_text", text: "a " },
    { type: "output_text", text: " b", annotations: [{ type: "url_citation" }], logprobs: [] },
    { type: "refusal", refusal: "no" },
  ];
  assertEquals(messagesOf([USER, { role: "assistant", content }])[1], {
    role: "assistant",
    content: "a  b",
    refusal: "no",
  });
});

Deno.test("item shapes that common clients send are accepted", () => {
  const reply = { role: "assistant", content: [{ type: "output_text", text: "r" }] };
  const refused = { role: "assistant", content: "r" };
  const echoed = {
    ...reply,
    type: "message",
    id: "msg_1",
    status: "completed",
    phase: "final_answer",
    parsed: { a: 1 },
  };
  const nulls = { ...reply, type: null, id: null, status: null, phase: null };
  for (const item of [reply, refused, echoed, nulls]) {
    assertEquals(messagesOf([USER, item]), [USER, refused]);
  }
  const replayed = { ...call("c"), id: "fc_1", status: "completed", parsed_arguments: {} };
  const output = { ...result("c"), id: null, status: null, name: null };
  assertEquals(messagesOf([USER, replayed, output]), messagesOf([USER, call("c"), result("c")]));
  for (const reasoning of [{ content: null }, { encrypted_content: null, summary: [] }]) {
    assertEquals(messagesOf([USER, { type: "reasoning", ...reasoning }, refused]), [USER, refused]);
  }
});

Deno.test("adjacent tool calls and the text before them become one message", () => {
  const turn = { role: "assistant", content: "Let me look." };
  assertEquals(
    messagesOf([USER, turn, call("a"), call("b", "g"), result("b"), result("a", "x")]),
    [
      USER,
      { ...turn, tool_calls: [called("a"), called("b", "g")] },
      answered("b"),
      answered("a", "x"),
    ],
  );
});

Deno.test("tool calls after a result begin a new message, and so does text after tool calls", () => {
  const turn = { role: "assistant", content: "Done." };
  const message = (id: string) => ({ role: "assistant", content: null, tool_calls: [called(id)] });
  assertEquals(
    messagesOf([
      USER,
      call("a"),
      result("a"),
      call("b"),
      turn,
      call("c"),
      result("c"),
      result("b"),
    ]),
    [
      USER,
      message("a"),
      answered("a"),
      message("b"),
      answered("b"),
      { ...turn, tool_calls: [called("c")] },
      answered("c"),
    ],
  );
});

Deno.test("assistant messages stay separate, and an empty one is not sent", () => {
  const turn = (content: string) => ({ role: "assistant", content });
  const empty = { role: "assistant", content: [{ type: "output_text", text: "" }] };
  assertEquals(
    messagesOf([USER, turn("a"), empty, turn("b"), { ...empty, content: [] }, USER]),
    [USER, turn("a"), turn("b"), USER],
  );
});

Deno.test("a call ID may be used again after its result", () => {
  const message = { role: "assistant", content: null, tool_calls: [called("a")] };
  assertEquals(messagesOf([call("a"), result("a"), call("a"), result("a")]), [
    message,
    answered("a"),
    message,
    answered("a"),
  ]);
});

Deno.test("tool results may consist of text parts", () => {
  const text = (value: string) => ({ type: "input_text", text: value });
  const results = [[], [text("a")], [text("a"), text("b")]].map((parts) =>
    messagesOf([call("c"), result("c", parts)])[1]?.content
  );
  assertEquals<unknown>(results, ["", "a", [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ]]);
});

Deno.test("stored items are sent before new items", () => {
  const kept = [USER, call("c")];
  assertEquals(messagesOf([result("c")], "compat", kept), [
    USER,
    { role: "assistant", content: null, tool_calls: [called("c")] },
    answered("c"),
  ]);
});

Deno.test("a call of a namespaced function is sent under its flat name", () => {
  const [message] = messagesOf([{ ...call("c", "get"), namespace: "db" }, result("c")]);
  assertEquals(message?.tool_calls, [called("c", "db__get")]);
});
