import { compat } from "../../../src/wires/compat/compat.ts";
import { responses } from "../../../src/wires/responses/responses.ts";
import { parseJson } from "../../../src/core/json/json.ts";
import { assertEquals } from "../../support/assert.ts";
import { assertFailed, encodeAs, providerOf, valueOf } from "../../support/translated.ts";
import { encodeMessages, encodeRequest } from "./encoded_request.ts";

const USER = { role: "user", content: "Hi" };

Deno.test("instructions keep their position and role", () => {
  const messages = [
    { role: "system", content: " a " },
    USER,
    { role: "developer", content: [{ type: "text", text: "b" }] },
  ];
  const items = [
    { type: "message", role: "system", content: " a " },
    { type: "message", role: "user", content: "Hi" },
    { type: "message", role: "developer", content: [{ type: "input_text", text: "b" }] },
  ];
  assertEquals<unknown>(valueOf(encodeMessages(messages)), items);
});

Deno.test("a developer message becomes a system message only if the provider is configured so", () => {
  const normalizing = providerOf(compat);
  const settings = { ...normalizing.settings, normalize_developer_role: true };
  const text = JSON.stringify({ messages: [{ role: "developer", content: "a" }] });
  const sent = encodeAs("POST /responses", text, { ...normalizing, settings }, "m", responses);
  assertEquals<unknown>(parseJson(valueOf(sent)), {
    model: "m",
    input: [{ type: "message", role: "system", content: "a" }],
    store: false,
  });
});

Deno.test("parts keep their cache breakpoints, and images their detail", () => {
  const mark = { prompt_cache_breakpoint: { mode: "explicit" } };
  const content = [
    { type: "text", text: " a\n", ...mark },
    { type: "image_url", image_url: { url: "data:x", detail: "high" }, ...mark },
    { type: "file", file: { file_id: "f", filename: null }, ...mark },
  ];
  assertEquals<unknown>(valueOf(encodeMessages([{ role: "user", content }])), [{
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: " a\n", ...mark },
      { type: "input_image", image_url: "data:x", detail: "high", ...mark },
      { type: "input_file", file_id: "f", ...mark },
    ],
  }]);
});

Deno.test("an assistant message is sent as message and calls, and a reasoning text without its item is not sent", () => {
  const called = { name: "f", arguments: " {broken" };
  const message = {
    role: "assistant",
    reasoning_content: " hm",
    content: "So",
    refusal: "No.",
    tool_calls: [{ index: 0, id: "c", type: "function", function: called }],
  };
  assertEquals<unknown>(valueOf(encodeMessages([USER, message])), [
    { type: "message", ...USER },
    {
      type: "message",
      role: "assistant",
      id: "msg_1",
      status: "completed",
      content: [
        { type: "output_text", text: "So", annotations: [], logprobs: [] },
        { type: "refusal", refusal: "No." },
      ],
    },
    { type: "function_call", call_id: "c", ...called },
  ]);
});

Deno.test("calls without text are sent without a message item", () => {
  const tool_calls = [{ id: "c", type: "function", function: { name: "f" } }];
  for (const content of ["", null, undefined]) {
    assertEquals<unknown>(valueOf(encodeMessages([{ role: "assistant", content, tool_calls }])), [
      { type: "function_call", call_id: "c", name: "f", arguments: "" },
    ]);
  }
});

Deno.test("results of legacy functions belong to the latest open call of their name", () => {
  const call = (name: string) => ({
    role: "assistant",
    content: null,
    function_call: { name, arguments: "{}" },
  });
  const result = (name: string, content: string | null) => ({ role: "function", name, content });
  const messages = [call("f"), call("g"), result("f", "1"), call("f"), result("f", null)];
  const items = valueOf(encodeMessages(messages));
  const made = (id: number, name: string) => ({
    type: "function_call",
    call_id: `function_call_${id}`,
    name,
    arguments: "{}",
  });
  const output = (id: number, text: string) => ({
    type: "function_call_output",
    call_id: `function_call_${id}`,
    output: text,
  });
  assertEquals<unknown>(items, [
    made(0, "f"),
    made(1, "g"),
    output(0, "1"),
    made(3, "f"),
    output(3, ""),
  ]);
});

const REFUSED: readonly [Parameters<typeof assertFailed>[1], Record<string, unknown>, string][] = [
  ["unsupported_feature", { role: "user", content: "a", more: "Bob" }, ".more"],
  ["unsupported_feature", { role: "assistant", content: "a", audio: { id: "a" } }, ".audio"],
  [
    "unsupported_feature",
    { role: "assistant", content: "a", thinking_blocks: [{}] },
    ".thinking_blocks[0].type",
  ],
  [
    "unsupported_feature",
    { role: "assistant", tool_calls: [{ id: "a", type: "mcp", mcp: {} }] },
    ".tool_calls[0].type",
  ],
  [
    "missing_required_parameter",
    { role: "assistant", tool_calls: [{ id: "a", type: "custom", custom: {} }] },
    ".tool_calls[0].custom.name",
  ],
  [
    "unsupported_feature",
    { role: "assistant", tool_calls: [{ id: "a", type: "custom", function: { name: "f" } }] },
    ".tool_calls[0].function",
  ],
  [
    "missing_required_parameter",
    { role: "assistant", tool_calls: [{ type: "function", function: { name: "f" } }] },
    ".tool_calls[0].id",
  ],
  [
    "unsupported_feature",
    { role: "assistant", tool_calls: [{ id: "a".repeat(65), function: { name: "f" } }] },
    ".tool_calls[0].id",
  ],
  [
    "invalid_type",
    { role: "assistant", tool_calls: [{ id: "a", function: { name: "f", arguments: {} } }] },
    ".tool_calls[0].function.arguments",
  ],
  ["missing_required_parameter", { role: "assistant" }, ".content"],
  ["invalid_value", { role: "assistant", content: [] }, ".content"],
  [
    "unsupported_feature",
    { role: "assistant", content: [{ type: "image_url", image_url: { url: "x" } }] },
    ".content[0].type",
  ],
  [
    "unsupported_feature",
    { role: "user", content: [{ type: "input_audio", input_audio: {} }] },
    ".content[0].type",
  ],
  [
    "unsupported_feature",
    { role: "system", content: [{ type: "image_url", image_url: { url: "x" } }] },
    ".content[0].type",
  ],
  [
    "missing_required_parameter",
    { role: "user", content: [{ type: "image_url", image_url: {} }] },
    ".content[0].image_url.url",
  ],
  [
    "unsupported_feature",
    { role: "user", content: [{ type: "file", file: { url: "x" } }] },
    ".content[0].file.url",
  ],
  ["invalid_value", { role: "user", content: [] }, ".content"],
  ["missing_required_parameter", { role: "user" }, ".content"],
  ["missing_required_parameter", { role: "tool", content: "a" }, ".tool_call_id"],
  ["missing_required_parameter", { role: "tool", tool_call_id: "c" }, ".content"],
  ["invalid_value", { role: "tool", tool_call_id: "c ", content: "a" }, ".tool_call_id"],
  [
    "invalid_value",
    { role: "assistant", tool_calls: [{ id: " c", function: { name: "f" } }] },
    ".tool_calls[0].id",
  ],
  ["invalid_value", { role: "function", name: "f", content: "a" }, ".name"],
  ["invalid_value", { role: "critic", content: "a" }, ".role"],
];

Deno.test("a message that cannot be translated is refused with its path", () => {
  for (const [kind, message, path] of REFUSED) {
    assertFailed(encodeMessages([USER, message]), kind, `messages[1]${path}`);
  }
  assertFailed(encodeRequest({}), "missing_required_parameter", "messages");
});
