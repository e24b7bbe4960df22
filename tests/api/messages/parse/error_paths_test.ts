import type { JsonObject } from "../../../../src/core/json/json.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import { encodeFor, refusalOf, translate } from "../translated.ts";

const USER = { role: "user", content: "hi" };

/** An object with this many levels. */
function nested(levels: number): string {
  return `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
}

/** The text of a request with these further members. */
function requestText(members: string): string {
  return `{"model":"m","max_tokens":16,${members}}`;
}

function dialogue(input: JsonObject): JsonObject {
  const call = { type: "tool_use", id: "t", name: "f", input };
  const result = { type: "tool_result", tool_use_id: "t", content: "R" };
  return {
    messages: [
      { role: "system", content: "early" },
      USER,
      { role: "assistant", content: [{ type: "text", text: "A" }, call] },
      { role: "user", content: [result] },
    ],
  };
}

Deno.test("an input that is nested too deeply for a local runtime is refused with the path of its block", () => {
  const [kind, param, message] = refusalOf(
    encodeFor(dialogue(JSON.parse(nested(600))), "local"),
  );
  assertEquals([kind, param], ["unsupported_feature", "messages.2.content.1.input"]);
  assert(message.startsWith("messages.2.content.1.input: It is nested more than 500"), message);
});

Deno.test("an id that is too long for a Responses provider is refused with the path of its block", () => {
  const long = "t".repeat(65);
  const messages = [
    USER,
    { role: "assistant", content: [{ type: "tool_use", id: long, name: "f", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: long }] },
  ];
  assertEquals(refusalOf(encodeFor({ messages }, "responses")), [
    "unsupported_feature",
    "messages.1.content.0.id",
    "messages.1.content.0.id: It may have at most 64 characters.",
  ]);
});

Deno.test("a schema that is nested too deeply for a local runtime is refused; compat gets its text", () => {
  const tools = `"tools":[{"name":"f","input_schema":${nested(5_000)}}]`;
  const text = requestText(`"messages":[{"role":"user","content":"hi"}],${tools}`);
  const { chat } = valueOf(translate(text));
  assert(chat.document.text.includes(nested(5_000)));
  const refused = refusalOf(encodeFor(JSON.parse(text), "local"));
  assertEquals(refused.slice(0, 2), ["unsupported_feature", "tools"]);
});

Deno.test("calls whose inputs together hold too many members for a local runtime are refused by their path", () => {
  const input = Object.fromEntries(Array.from({ length: 200_001 }, (_, at) => [`p${at}`, 1]));
  assertEquals(refusalOf(encodeFor(dialogue(input), "local")).slice(0, 2), [
    "request_too_large",
    "messages.2.content.1.input",
  ]);
});
