import { sealThinking } from "../../../../src/api/reasoning/sealed_thinking.ts";
import type { JsonObject, JsonValue } from "../../../../src/core/json/json.ts";
import { assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import {
  encodeFor,
  messagesOf,
  refusalOf,
  translate,
  TRANSLATED,
  translateMessages,
} from "../translated.ts";

const USER = { role: "user", content: "hi" };

function text(value: string): JsonObject {
  return { type: "text", text: value };
}

function use(id: string, more: JsonObject = {}): JsonObject {
  return { type: "tool_use", id, name: "f", input: {}, ...more };
}

function result(id: string): JsonObject {
  return { type: "tool_result", tool_use_id: id, content: "R" };
}

function called(id: string, args = "{}"): JsonObject {
  return { id, type: "function", function: { name: "f", arguments: args } };
}

/** A dialogue with an assistant message of these blocks, whose calls are answered. */
function dialogue(content: JsonValue, ...ids: readonly string[]): JsonValue[] {
  const answer = ids.length === 0 ? USER : { role: "user", content: ids.map(result) };
  return [USER, { role: "assistant", content }, answer];
}

/** The Chat message of an assistant message with these blocks, and what is named. */
function spoken(content: JsonValue, ...ids: readonly string[]) {
  const { chat, lossy } = valueOf(translateMessages(dialogue(content, ...ids)));
  const { messages } = chat.document.value;
  return [Array.isArray(messages) ? messages[1] : null, lossy];
}

function thinking(value: string, signature?: string): JsonObject {
  return { type: "thinking", thinking: value, ...signature !== undefined && { signature } };
}

const SEAL = sealThinking([{ type: "thinking", thinking: "sealed" }]);

Deno.test("assistant texts are joined without glue", () => {
  assertEquals(spoken("A"), [{ role: "assistant", content: "A" }, []]);
  assertEquals(spoken([text("A"), text(""), text("B")]), [
    { role: "assistant", content: "AB" },
    [],
  ]);
});

Deno.test("calls follow the text, and a message with calls alone has the content null", () => {
  assertEquals(spoken([text("A"), use("t")], "t")[0], {
    role: "assistant",
    content: "A",
    tool_calls: [called("t")],
  });
  assertEquals(spoken([use("t"), use("u")], "t", "u")[0], {
    role: "assistant",
    content: null,
    tool_calls: [called("t"), called("u")],
  });
});

Deno.test("text behind a call moves before it and is named", () => {
  assertEquals(spoken([use("t"), text("A")], "t"), [
    { role: "assistant", content: "A", tool_calls: [called("t")] },
    ["messages.1.content.1"],
  ]);
});

Deno.test("the input of a call is its JSON text as the client wrote it", () => {
  const input = '{ "9": 1.0, "8": 1e400, "a": "\\u0041" , "n":12345678901234567890}';
  const { chat } = valueOf(translate(
    `{"max_tokens":9,"messages":[{"role":"user","content":"hi"},{"content":[{"input":{},"type":"tool_use","id":"t","name":"f","input":${input}}],"role":"assistant"},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t"}]}]}`,
  ));
  const { messages } = chat.document.value;
  assertEquals(Array.isArray(messages) ? messages[1] : null, {
    role: "assistant",
    content: null,
    tool_calls: [called("t", input)],
  });
});

Deno.test("an input that is no object is refused by its path", () => {
  for (const input of ["{}", [], null, 1]) {
    const [, param] = refusalOf(translateMessages(dialogue([use("t", { input })], "t")));
    assertEquals(param, "messages.1.content.0.input");
  }
});

Deno.test("a caller other than the model, and a toolset_name, are refused", () => {
  assertEquals(spoken([use("t", { caller: { type: "direct" }, toolset_name: null })], "t")[1], []);
  assertEquals(
    refusalOf(
      translateMessages(dialogue([use("t", { caller: { type: "code_execution" } })], "t")),
    )[2],
    "messages.1.content.0.caller: Extra inputs are not permitted",
  );
  assertEquals(
    refusalOf(translateMessages(dialogue([use("t", { toolset_name: "b" })], "t")))[1],
    "messages.1.content.0.toolset_name",
  );
});

Deno.test("thinking is the reasoning_content of the same message, joined without glue", () => {
  assertEquals(spoken([thinking("a"), thinking("b"), text("A")]), [
    { role: "assistant", content: "A", reasoning_content: "ab" },
    [],
  ]);
});

Deno.test("thinking that is only in the gateway's seal is opened, also across a tool loop", () => {
  assertEquals(SEAL.slice(0, 12), "switchyard1.", "later versions know it by its beginning");
  for (const wire of TRANSLATED) {
    const messages = dialogue([thinking("", SEAL), use("t")], "t");
    const { chat, lossy } = valueOf(translateMessages(messages, wire));
    const made = chat.document.value.messages;
    assertEquals(Array.isArray(made) ? made[1] : null, {
      role: "assistant",
      content: null,
      reasoning_content: "sealed",
      tool_calls: [called("t")],
    });
    assertEquals(lossy, []);
  }
});

Deno.test("the text of thinking outweighs its seal, and a foreign signature is named", () => {
  assertEquals(spoken([thinking("shown", SEAL), text("A")]), [
    { role: "assistant", content: "A", reasoning_content: "shown" },
    [],
  ]);
  assertEquals(spoken([thinking("shown", "EqQB"), text("A")]), [
    { role: "assistant", content: "A", reasoning_content: "shown" },
    ["messages.1.content.0.signature"],
  ]);
});

Deno.test("a seal with a wrong checksum counts as foreign", () => {
  const broken = SEAL.replace(/.$/, (last) => last === "A" ? "B" : "A");
  assertEquals(spoken([thinking("shown", broken), text("A")])[1], [
    "messages.1.content.0.signature",
  ]);
  assertEquals(spoken([thinking("", broken), text("A")]), [{ role: "assistant", content: "A" }, [
    "messages.1.content.0",
  ]]);
});

Deno.test("thinking without a text is dropped; it is named when a signature is lost", () => {
  assertEquals(spoken([thinking("", "EqQB"), text("A")]), [{ role: "assistant", content: "A" }, [
    "messages.1.content.0",
  ]]);
  for (const signature of ["", undefined]) {
    assertEquals(spoken([thinking("", signature), text("A")]), [
      { role: "assistant", content: "A" },
      [],
    ]);
  }
});

Deno.test("redacted thinking is dropped and named, because refusing it would end a session that changes provider", () => {
  assertEquals(spoken([{ type: "redacted_thinking", data: "x" }, text("A")]), [
    { role: "assistant", content: "A" },
    ["messages.1.content.0"],
  ]);
});

Deno.test("the thinking that a Responses provider cannot take is named by its own path", () => {
  const content = [text("A"), thinking("a"), thinking("b")];
  const { lossy } = valueOf(encodeFor({ messages: dialogue(content) }, "responses"));
  assertEquals(lossy, ["messages.1.content.1"]);
});

Deno.test("a message of thinking alone has an empty text", () => {
  assertEquals(spoken([thinking("a")])[0], {
    role: "assistant",
    content: "",
    reasoning_content: "a",
  });
});

Deno.test("an assistant message of which nothing is left is not sent", () => {
  for (const content of ["", [], [text("")], [{ type: "redacted_thinking", data: "x" }]]) {
    assertEquals(messagesOf(dialogue(content)), [USER, USER]);
  }
});

Deno.test("the same id twice in one assistant message is refused", () => {
  assertEquals(refusalOf(translateMessages(dialogue([use("t"), use("t")], "t"))), [
    "invalid_value",
    "messages.1.content.1.id",
    "messages.1.content.1.id: `tool_use` ids must be unique",
  ]);
});

Deno.test("blocks of server tools in the history are refused by their tag", () => {
  for (const type of ["server_tool_use", "web_search_tool_result", "mcp_tool_use", "image"]) {
    const [kind, param, message] = refusalOf(translateMessages(dialogue([text("A"), { type }])));
    assertEquals([kind, param], ["unsupported_feature", "messages.1.content.1"]);
    assertEquals(message.includes(`Input tag '${type}' found using 'type' does not match`), true);
  }
});

Deno.test("a last message of the assistant is refused, because a Chat server does not continue it", () => {
  for (const content of ["The answer is", "", []]) {
    assertEquals(refusalOf(translateMessages([USER, { role: "assistant", content }])), [
      "unsupported_feature",
      "messages.1",
      "messages.1: This model does not support assistant message prefill. The conversation must end with a user message.",
    ]);
  }
});
