import { isObject, type JsonObject } from "../../src/core/json/json.ts";
import { assertEquals } from "../support/assert.ts";
import { callSimulator } from "./call_simulator.ts";

const PNG = "iVBORw0KGgo=";
const IMAGE_LINE = "[image/png, 8 bytes, ";

/** The same conversation in each protocol: a tool call is answered, then an image is sent. */
const CONVERSATIONS: Readonly<Record<string, JsonObject>> = {
  "/compat/v1/chat/completions": {
    messages: [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "Add." },
      {
        role: "assistant",
        content: "Two calls.",
        reasoning_content: "Hm.",
        tool_calls: [compatCall("a", "add"), compatCall("b", "sub")],
      },
      { role: "tool", tool_call_id: "b", content: "0" },
      { role: "tool", tool_call_id: "a", content: "2" },
      {
        role: "user",
        content: [
          { type: "text", text: "Look: " },
          { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
    ],
  },
  "/messages/v1/messages": {
    max_tokens: 100,
    system: "Be brief.",
    tools: [{ name: "add", input_schema: { type: "object" } }],
    messages: [
      { role: "user", content: "Add." },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Two calls." },
          { type: "tool_use", id: "a", name: "add", input: { n: 1 } },
          { type: "tool_use", id: "b", name: "sub", input: { n: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "b", content: "0" },
          { type: "tool_result", tool_use_id: "a", content: "2" },
          { type: "text", text: "Look: " },
          { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
        ],
      },
    ],
  },
  "/local/api/chat": {
    stream: false,
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Add." },
      {
        role: "assistant",
        content: "Two calls.",
        thinking: "Hm.",
        tool_calls: [localCall("a", "add"), localCall("b", "sub")],
      },
      { role: "tool", tool_call_id: "b", tool_name: "sub", content: "0" },
      { role: "tool", tool_call_id: "a", tool_name: "add", content: "2" },
      { role: "user", content: "Look: ", images: [PNG] },
    ],
  },
  "/compat/v1/responses": {
    instructions: "Be brief.",
    input: [
      { role: "user", content: "Add." },
      { role: "assistant", content: "Two calls." },
      { type: "function_call", call_id: "a", name: "add", arguments: '{"n":1}' },
      { type: "function_call", call_id: "b", name: "sub", arguments: '{"n":1}' },
      { type: "function_call_output", call_id: "b", output: "0" },
      { type: "function_call_output", call_id: "a", output: "2" },
      {
        role: "user",
        content: [
          { type: "input_text", text: "Look: " },
          { type: "input_image", image_url: `data:image/png;base64,${PNG}` },
        ],
      },
    ],
  },
};

function compatCall(id: string, name: string): JsonObject {
  return { id, type: "function", function: { name, arguments: '{"n":1}' } };
}

function localCall(id: string, name: string): JsonObject {
  return { id, function: { name, arguments: { n: 1 } } };
}

/** Returns the text of a whole response in any of the protocols. */
function textIn(body: unknown): string {
  return textsOf(body).join("");
}

function textsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (!isObject(value)) return [];
  const { content, text, choices, message, output, type } = value;
  if (type === "reasoning") return [];
  if (typeof text === "string") return [text];
  if (typeof content === "string") return [content];
  return [choices, message, output, content].flatMap(textsOf);
}

for (const [path, conversation] of Object.entries(CONVERSATIONS)) {
  Deno.test(`sim-transcript repeats the whole conversation as it arrived at ${path}`, async () => {
    const response = await callSimulator(path, { model: "sim-transcript", ...conversation });
    assertEquals(response.status, 200);
    const thinks = path.includes("chat");
    const lines = textIn(await response.json()).split("\n");
    assertEquals(lines.slice(0, -1), [
      "system: Be brief.",
      "user: Add.",
      ...thinks ? ["thinking: Hm."] : [],
      "assistant: Two calls.",
      'assistant calls add {"n":1}',
      'assistant calls sub {"n":1}',
      "sub returns 0",
      "add returns 2",
    ]);
    assertEquals(lines.at(-1)?.replace(/[0-9a-f]+\]$/, ""), `user: Look: ${IMAGE_LINE}`);
  });
}
