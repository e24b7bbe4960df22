import { assertFailed, type Written } from "../../support/translated.ts";
import { encodeMessages, encodeRequest } from "./encoded_request.ts";

const USER = { role: "user", content: "Hi" };

const REFUSED: readonly [kind: Parameters<typeof assertFailed>[1], Written, param: string][] = [
  ["unsupported_feature", { role: "user", content: "a", more: "Bob" }, "messages[1].more"],
  ["unsupported_feature", { role: "system", content: "a", more: "Bob" }, "messages[1].more"],
  ["unsupported_feature", { role: "assistant", audio: { id: "a" } }, "messages[1].audio"],
  [
    "unsupported_feature",
    { role: "assistant", annotations: [{}] },
    "messages[1].annotations[0].type",
  ],
  [
    "unsupported_feature",
    { role: "assistant", thinking_blocks: [{ type: "thinking", thinking: "hm" }] },
    "messages[1].thinking_blocks[0].signature",
  ],
  [
    "unsupported_feature",
    { role: "assistant", tool_calls: [{ id: "a", type: "mcp" }] },
    "messages[1].tool_calls[0].type",
  ],
  [
    "unsupported_feature",
    { role: "assistant", content: "", cache_control: { type: "ephemeral" } },
    "messages[1].cache_control",
  ],
  [
    "unsupported_feature",
    { role: "user", content: [{ type: "input_audio", input_audio: {} }] },
    "messages[1].content[0].type",
  ],
  ["invalid_value", { role: "user", content: "" }, "messages[1].content"],
  ["invalid_value", { role: "user", content: [] }, "messages[1].content"],
  ["invalid_value", { role: "user", content: [{ type: "text", text: "" }] }, "messages[1].content"],
  ["invalid_value", { role: "critic", content: "a" }, "messages[1].role"],
  ["invalid_value", { role: "function", name: "f", content: "a" }, "messages[1].name"],
  ["missing_required_parameter", { role: "tool", content: "a" }, "messages[1].tool_call_id"],
  ["missing_required_parameter", { role: "user" }, "messages[1].content"],
  ["invalid_type", { role: "user", content: 1 }, "messages[1].content"],
];

Deno.test("a message that cannot be translated is refused with its path", () => {
  for (const [kind, message, param] of REFUSED) {
    assertFailed(encodeMessages([USER, message]), kind, param);
  }
});

Deno.test("arguments that are not an object are refused, never replaced", () => {
  for (const args of ["{", "[]", "1", "null", '"{}"']) {
    const call = { id: "c", type: "function", function: { name: "f", arguments: args } };
    const refused = encodeMessages([USER, { role: "assistant", tool_calls: [call] }]);
    assertFailed(refused, "invalid_value", "messages[1].tool_calls[0].function.arguments");
  }
});

Deno.test("a conversation must start with a user message", () => {
  const system = { role: "system", content: "a" };
  const assistant = { role: "assistant", content: "a" };
  assertFailed(encodeMessages([assistant, USER]), "invalid_value", "messages[0].role");
  assertFailed(encodeMessages([system, assistant]), "invalid_value", "messages[1].role");
  assertFailed(encodeMessages([system]), "invalid_value", "messages");
  assertFailed(encodeMessages([]), "invalid_value", "messages");
  assertFailed(encodeRequest({}), "missing_required_parameter", "messages");
});
