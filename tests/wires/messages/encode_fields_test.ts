import { assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf, type Written } from "../../support/translated.ts";
import { encodeFields, encodeText } from "./encoded_request.ts";

/** The upstream request if the client's fields request nothing more. */
const PLAIN = { model: "m", max_tokens: 32_000, messages: [{ role: "user", content: "Hi" }] };

const EXACT: readonly [asked: Written, sent: Written, settings?: Written][] = [
  [{ stream: true }, { stream: true }],
  [{ max_tokens: 5 }, { max_tokens: 5 }],
  [{ max_completion_tokens: 1 }, { max_tokens: 1 }],
  [{ max_completion_tokens: 9, max_tokens: 9 }, { max_tokens: 9 }],
  [{ max_tokens: 1e6 }, { max_tokens: 1e6 }, { extra: { max_tokens: "7" } }],
  [{ temperature: 0 }, { temperature: 0 }],
  [{ temperature: 1 }, { temperature: 1 }, { temperature: 0.5 }],
  [{}, { temperature: 0.5, top_p: 0.9 }, { temperature: 0.5, top_p: 0.9, top_k: 4 }],
  [{ temperature: null }, { temperature: 0.5 }, { temperature: 0.5 }],
  [{ top_p: 0.3 }, { top_p: 0.3 }, { top_p: 0.9 }],
  [{ top_k: 40 }, { top_k: 40 }, { top_k: 4 }],
  [{ stop: "END" }, { stop_sequences: ["END"] }],
  [{ stop: ["a", " b\n"] }, { stop_sequences: ["a", " b\n"] }],
  [{ user: "u" }, { metadata: { user_id: "u" } }],
  [{ safety_identifier: "s" }, { metadata: { user_id: "s" } }],
  [{ user: "u", safety_identifier: "u" }, { metadata: { user_id: "u" } }],
  [{ cache_control: { type: "ephemeral" } }, { cache_control: { type: "ephemeral" } }],
  [{ service_tier: "default" }, { service_tier: "standard_only" }],
  [{ thinking: { type: "disabled" } }, { thinking: { type: "disabled" } }],
];

Deno.test("fields with a counterpart are sent", () => {
  for (const [asked, sent, settings] of EXACT) {
    assertEquals<unknown>(valueOf(encodeFields(asked, settings)), { ...PLAIN, ...sent });
  }
});

const NOTHING: readonly Written[] = [
  { stream: false, stream_options: { include_usage: true, include_obfuscation: false } },
  { max_tokens: null, max_completion_tokens: null },
  { stop: null },
  { stop: [] },
  { n: 1 },
  { metadata: {}, store: false, service_tier: "auto", verbosity: "medium" },
  { frequency_penalty: 0, presence_penalty: 0.0, logit_bias: {} },
  { logprobs: false, top_logprobs: 0, modalities: ["text"] },
  { seed: null, audio: null, prediction: null, web_search_options: null, moderation: null },
  {
    prompt_cache_key: "k",
    prompt_cache_retention: "24h",
    prompt_cache_options: { mode: "implicit" },
  },
  { n: null, metadata: null, store: null, service_tier: null, logit_bias: null, user: null },
  { tools: [], tool_choice: "auto", parallel_tool_calls: false },
  { functions: [], tool_choice: "none" },
  { response_format: { type: "text" } },
  { response_format: { type: "text", other: 1 } },
  { response_format: null, reasoning_effort: null, reasoning: {}, thinking: null },
];

Deno.test("values that request nothing are accepted and not sent", () => {
  for (const asked of NOTHING) {
    assertEquals<unknown>(valueOf(encodeFields(asked)), PLAIN, JSON.stringify(asked));
  }
});

const UNSUPPORTED: readonly [asked: Written, param: string, settings?: Written][] = [
  [{ stream_options: { include_obfuscation: true } }, "stream_options.include_obfuscation"],
  [{ stream_options: { other: 1 } }, "stream_options.other"],
  [{ temperature: 1.01 }, "temperature"],
  [{ temperature: 1 }, "temperature", { api_version: "2026-10-21" }],
  [{ top_p: 1 }, "top_p", { api_version: "2026-10-21" }],
  [{ top_k: 1 }, "top_k", { api_version: "2026-10-21" }],
  [{ stop: "" }, "stop"],
  [{ stop: "\n" }, "stop", { verify: false }],
  [{ stop: ["a", " "] }, "stop[1]", { verify: false }],
  [{ stop: ["a", " ".repeat(4_097)] }, "stop[1]", {}],
  [{ n: 2 }, "n"],
  [{ thinking: { type: "enabled", budget_tokens: 1024 } }, "thinking.type"],
  [{ user: "u".repeat(257) }, "user"],
  [{ user: "u", safety_identifier: "s" }, "safety_identifier"],
  [{ metadata: { a: "b" } }, "metadata"],
  [{ store: true }, "store"],
  [{ service_tier: "priority" }, "service_tier"],
  [{ seed: 0 }, "seed"],
  [{ frequency_penalty: 0.1 }, "frequency_penalty"],
  [{ presence_penalty: -1 }, "presence_penalty"],
  [{ logit_bias: { "1": 2 } }, "logit_bias"],
  [{ logprobs: true }, "logprobs"],
  [{ top_logprobs: 1 }, "top_logprobs"],
  [{ modalities: ["text", "audio"] }, "modalities"],
  [{ audio: {} }, "audio"],
  [{ prediction: {} }, "prediction"],
  [{ web_search_options: {} }, "web_search_options"],
  [{ moderation: "low" }, "moderation"],
  [{ verbosity: "low" }, "verbosity"],
  [{ cache_control: { type: "persistent" } }, "cache_control.type"],
  [{ foo: 1 }, "foo"],
  [{ constructor: 1 }, "constructor"],
];

Deno.test("fields that cannot be translated are refused with their path", () => {
  for (const [asked, param, settings] of UNSUPPORTED) {
    assertFailed(encodeFields(asked, settings), "unsupported_feature", param);
  }
});

Deno.test("values that no provider accepts are refused with their path", () => {
  assertFailed(encodeFields({ max_tokens: 0 }), "invalid_value", "max_tokens");
  assertFailed(
    encodeFields({ max_completion_tokens: -1 }),
    "invalid_value",
    "max_completion_tokens",
  );
  assertFailed(encodeFields({ temperature: 2.1 }), "invalid_value", "temperature");
  assertFailed(encodeFields({ top_p: 1.1 }), "invalid_value", "top_p");
  assertFailed(encodeFields({ top_k: -1 }), "invalid_value", "top_k");
  assertFailed(
    encodeFields({ max_tokens: 5, max_completion_tokens: 6 }),
    "invalid_parameter_combination",
    "max_tokens",
  );
});

Deno.test("max_tokens defaults to the provider's value, the model's maximum or a common limit", () => {
  const sent = (model: string, written: Written = {}) => {
    const request = JSON.stringify({ messages: [{ role: "user", content: "Hi" }] });
    return JSON.parse(valueOf(encodeText(request, written, model))).max_tokens;
  };
  assertEquals(sent("unknown"), 32_000);
  assertEquals(sent("claude-sonnet-4-5"), 64_000);
  assertEquals(sent("claude-sonnet-4-5-20250929"), 64_000);
  assertEquals(sent("unknown", { extra: { max_tokens: "90000" } }), 90_000);
  assertEquals(sent("claude-3-haiku-20240307", { extra: { max_tokens: "90000" } }), 4_096);
  assertEquals(sent("claude-3-haiku-20240307", { extra: { max_tokens: "100" } }), 100);
  assertEquals(sent("unknown", { extra: { max_tokens: "0" } }), 32_000);
  assertEquals(sent("unknown", { extra: { max_tokens: "many" } }), 32_000);
});

Deno.test("sampling defaults are not sent with the newer API version", () => {
  const settings = { api_version: "2026-10-21", temperature: 0.5, top_p: 0.5 };
  assertEquals<unknown>(valueOf(encodeFields({}, settings)), PLAIN);
});

Deno.test("numbers keep their text", () => {
  const request = '{"messages":[{"role":"user","content":"Hi"}],"temperature":0.50,"max_tokens":5}';
  const body = '{"model":"m","max_tokens":5,"temperature":0.50,"messages":' +
    '[{"role":"user","content":"Hi"}]}';
  assertEquals(valueOf(encodeText(request)), body);
});
