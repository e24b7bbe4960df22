import { sealThinking } from "../../../../src/api/reasoning/sealed_thinking.ts";
import { assertEquals } from "../../../support/assert.ts";
import { valueOf } from "../../../support/translated.ts";
import { ABLE, encodeFor, refusalOf, translate, TRANSLATED } from "../translated.ts";

const SEAL = sealThinking([{ type: "thinking", thinking: "(text out of the seal)" }]);

/** A shortened request of Claude Code 2.1.330. */
const REQUEST = {
  model: "claude-opus-5-5",
  max_tokens: 128000,
  stream: true,
  thinking: { type: "adaptive", display: "omitted" },
  output_config: { effort: "medium" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  metadata: { user_id: '{"device_id":"…"}' },
  system: [
    {
      type: "text",
      text: "x-anthropic-billing-header: cc_version=2.1.330.930; cc_entrypoint=cli;",
    },
    { type: "text", text: "You are …", cache_control: { type: "ephemeral" } },
    { type: "text", text: "\nYou work …" },
  ],
  messages: [
    {
      role: "user",
      content: [{ type: "text", text: "<system-reminder>…" }, { type: "text", text: "Read it" }],
    },
    { role: "system", content: "# Environment …", output_config: { effort: "medium" } },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: SEAL },
        { type: "tool_use", id: "c1", name: "ToolSearch", input: { query: "select:WebFetch" } },
        { type: "tool_use", id: "c2", name: "Bash", input: { command: "exit 3" } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "c1",
          content: [{ type: "tool_reference", tool_name: "WebFetch" }],
        },
        { type: "tool_result", tool_use_id: "c2", content: "Exit code 3", is_error: true },
        { type: "text", text: "Tool loaded." },
      ],
    },
  ],
  tools: [
    { name: "Bash", input_schema: { type: "object" } },
    { name: "ToolSearch", input_schema: { type: "object" } },
    { name: "WebFetch", input_schema: { type: "object" }, defer_loading: true },
    {
      name: "DeferredToolPlaceholder",
      input_schema: { type: "object", properties: {} },
      defer_loading: true,
    },
  ],
};

/** Its hub form, for a target that declares reasoning_effort. */
const HUB =
  `{"model":"m","max_completion_tokens":128000,"stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"medium",` +
  `"messages":[{"role":"system","content":[{"type":"text","text":"You are …"},{"type":"text","text":"\\nYou work …"}]},` +
  `{"role":"user","content":[{"type":"text","text":"<system-reminder>…"},{"type":"text","text":"Read it"}]},` +
  `{"role":"system","content":"# Environment …"},` +
  `{"role":"assistant","content":null,"reasoning_content":"(text out of the seal)","tool_calls":[{"id":"c1","type":"function","function":{"name":"ToolSearch","arguments":"{\\"query\\":\\"select:WebFetch\\"}"}},{"id":"c2","type":"function","function":{"name":"Bash","arguments":"{\\"command\\":\\"exit 3\\"}"}}]},` +
  `{"role":"tool","tool_call_id":"c1","content":"Loaded tool: WebFetch"},{"role":"tool","tool_call_id":"c2","content":"[tool error]\\nExit code 3"},` +
  `{"role":"user","content":"Tool loaded."}],` +
  `"tools":[{"type":"function","function":{"name":"Bash","parameters":{"type":"object"}}},{"type":"function","function":{"name":"ToolSearch","parameters":{"type":"object"}}},{"type":"function","function":{"name":"WebFetch","parameters":{"type":"object"}}}]}`;

Deno.test("the main request of Claude Code has its published hub form, character by character", () => {
  const translated = valueOf(translate(REQUEST, "compat", ABLE));
  assertEquals(translated.chat.document.text, HUB);
  assertEquals(translated.lossy, ["messages.3.content.1.is_error", "metadata.user_id"]);
  assertEquals(translated.thinking, "sealed");
});

Deno.test("compat sends that form on as it is", () => {
  assertEquals(valueOf(encodeFor(REQUEST, "compat", ABLE)).text, HUB);
});

Deno.test("the main request of Claude Code is taken by every protocol that declares the effort", () => {
  for (const wire of TRANSLATED) assertEquals(encodeFor(REQUEST, wire, ABLE).ok, true);
});

Deno.test("without the effort there is exactly one refusal, and the repaired request is taken", () => {
  for (const wire of TRANSLATED) {
    assertEquals(
      refusalOf(encodeFor(REQUEST, wire))[2],
      "This model does not support the effort parameter.",
    );
    const { output_config: _, ...repaired } = REQUEST;
    assertEquals(encodeFor(repaired, wire).ok, true);
  }
});
