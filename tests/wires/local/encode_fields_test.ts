import { assertEquals, assertStringIncludes } from "../../support/assert.ts";
import { parseDocument } from "../../../src/formats/document.ts";
import { local } from "../../../src/wires/local/local.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { bodyOf, encodeFields, encodeText, localTarget } from "./target.ts";

const PLAIN = { model: "m", messages: [{ role: "user", content: "Hi" }], stream: false };

const CARRIED: readonly (readonly [fields: Record<string, unknown>, added: object])[] = [
  [{ stream: true }, { stream: true }],
  [{ stream: true, stream_options: { include_usage: true } }, { stream: true }],
  [{ max_tokens: 5 }, { options: { num_predict: 5 } }],
  [{ max_completion_tokens: 5 }, { options: { num_predict: 5 } }],
  [{ max_completion_tokens: 5, max_tokens: 5 }, { options: { num_predict: 5 } }],
  [{ temperature: 2, top_p: 0.5, top_k: 3 }, { options: { temperature: 2, top_p: 0.5, top_k: 3 } }],
  [{ temperature: 0 }, { options: { temperature: 0 } }],
  [{ stop: "END" }, { options: { stop: ["END"] } }],
  [{ stop: ["a", "\n"] }, { options: { stop: ["a", "\n"] } }],
  [{ seed: 0 }, { options: { seed: 0 } }],
  [
    { presence_penalty: -2, frequency_penalty: 0 },
    { options: { presence_penalty: -2, frequency_penalty: 0 } },
  ],
  [{ response_format: { type: "json_object" } }, { format: "json" }],
  [{ thinking: { type: "disabled" } }, { think: false }],
];

Deno.test("each field with a counterpart is sent in its place", () => {
  for (const [fields, added] of CARRIED) {
    assertEquals<unknown>(bodyOf(encodeFields(fields)), { ...PLAIN, ...added });
  }
});

const HARMLESS: readonly Record<string, unknown>[] = [
  { stream: false, stream_options: null },
  { stop: null },
  { stop: [] },
  { temperature: null, top_p: null, top_k: null, seed: null, max_tokens: null },
  { response_format: null },
  { response_format: { type: "text" } },
  { response_format: { type: "text", other: 1 } },
  { reasoning_effort: null, reasoning: null, thinking: null },
  { tools: [], tool_choice: "auto", parallel_tool_calls: false },
  { tools: null, tool_choice: null, parallel_tool_calls: true },
  { tool_choice: "none", functions: [], function_call: "auto" },
  { logprobs: false, top_logprobs: 0 },
  { n: 1 },
  { user: null, safety_identifier: null, audio: null, prediction: null, moderation: null },
  { metadata: {}, logit_bias: {}, store: false },
  { service_tier: "auto" },
  { service_tier: "default" },
  { verbosity: "medium", modalities: ["text"] },
  {
    prompt_cache_key: "k",
    prompt_cache_retention: "24h",
    prompt_cache_options: { mode: "implicit" },
    web_search_options: null,
  },
  { stream_options: { include_obfuscation: false } },
];

Deno.test("values that request nothing are accepted and not sent", () => {
  for (const fields of HARMLESS) {
    assertEquals<unknown>(bodyOf(encodeFields(fields)), PLAIN, JSON.stringify(fields));
  }
});

const UNSUPPORTED: readonly (readonly [fields: Record<string, unknown>, param: string])[] = [
  [{ seed: -1 }, "seed"],
  [{ response_format: { type: "grammar" } }, "response_format.type"],
  [{ thinking: { type: "enabled", budget_tokens: 9 } }, "thinking.type"],
  [{ logprobs: true }, "logprobs"],
  [{ top_logprobs: 2 }, "top_logprobs"],
  [{ n: 2 }, "n"],
  [{ user: "u" }, "user"],
  [{ safety_identifier: "u" }, "safety_identifier"],
  [{ metadata: { a: "b" } }, "metadata"],
  [{ logit_bias: { "1": 1 } }, "logit_bias"],
  [{ store: true }, "store"],
  [{ service_tier: "flex" }, "service_tier"],
  [{ verbosity: "low" }, "verbosity"],
  [{ modalities: ["text", "audio"] }, "modalities"],
  [{ audio: { voice: "v" } }, "audio"],
  [{ prediction: { type: "content", content: "c" } }, "prediction"],
  [{ web_search_options: {} }, "web_search_options"],
  [{ moderation: { model: "m" } }, "moderation"],
  [{ num_ctx: 8192 }, "num_ctx"],
  [{ keep_alive: "1h" }, "keep_alive"],
  [{ options: { num_ctx: 1 } }, "options"],
  [{ toString: 1 }, "toString"],
  [{ stream_options: { include_obfuscation: true } }, "stream_options.include_obfuscation"],
  [{ stream_options: { other: 1 } }, "stream_options.other"],
];

Deno.test("fields without a counterpart are refused with their path", () => {
  for (const [fields, param] of UNSUPPORTED) {
    assertFailed(encodeFields(fields), "unsupported_feature", param);
  }
});

Deno.test("values out of range or of the wrong type are refused with their path", () => {
  assertFailed(encodeFields({ max_tokens: 0 }), "invalid_value", "max_tokens");
  assertFailed(
    encodeFields({ max_completion_tokens: -1 }),
    "invalid_value",
    "max_completion_tokens",
  );
  assertFailed(encodeFields({ max_tokens: 1.5 }), "invalid_type", "max_tokens");
  const both = { max_tokens: 1, max_completion_tokens: 2 };
  assertFailed(encodeFields(both), "invalid_parameter_combination", "max_tokens");
  assertFailed(encodeFields({ stop: "" }), "invalid_value", "stop");
  assertFailed(encodeFields({ stop: ["a", ""] }), "invalid_value", "stop[1]");
  assertFailed(encodeFields({ stop: 1 }), "invalid_type", "stop");
  assertFailed(encodeFields({ presence_penalty: 2.5 }), "invalid_value", "presence_penalty");
  assertFailed(encodeFields({ temperature: "1" }), "invalid_type", "temperature");
  assertFailed(encodeFields({ top_k: 1.5 }), "invalid_type", "top_k");
  assertFailed(encodeFields({ response_format: "json" }), "invalid_type", "response_format");
});

Deno.test("numbers of the request keep their text", () => {
  const request = '{"model":"p/m","messages":[{"role":"user","content":"Hi"}],' +
    '"temperature":1.0,"seed":12345678901234567890,"top_p":9e-1,"max_tokens":10.0}';
  assertEquals(
    valueOf(encodeText(request)),
    '{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":false,' +
      '"options":{"temperature":1.0,"top_p":9e-1,"seed":12345678901234567890,"num_predict":10.0}}',
  );
});

Deno.test("a request is sent to the chat endpoint of the runtime", () => {
  const document = valueOf(parseDocument('{"messages":[{"role":"user","content":""}]}'));
  const chat = { document, stream: true, includeUsage: true };
  const { payload, ...request } = valueOf(local.encode(chat, localTarget()));
  assertEquals(request, { method: "POST", path: "/api/chat" });
  assertEquals(
    payload?.text(),
    '{"model":"m","messages":[{"role":"user","content":""}],"stream":true}',
  );
});

Deno.test("provider defaults apply to fields that the request does not set", () => {
  const settings = { temperature: 0.1, top_p: 0.2, top_k: 7 };
  assertEquals<unknown>(bodyOf(encodeFields({ top_p: 1, top_k: null }, settings)), {
    ...PLAIN,
    options: { temperature: 0.1, top_p: 1, top_k: 7 },
  });
});

Deno.test("the provider's extra map sets options that a client cannot set", () => {
  const extra = { keep_alive: "-1", truncate: "false", num_ctx: "8192", use_mmap: "true", x: "1h" };
  assertStringIncludes(
    valueOf(encodeFields({}, { extra })),
    '"options":{"num_ctx":8192,"use_mmap":true,"x":"1h"},"keep_alive":-1,"truncate":false}',
  );
  assertStringIncludes(
    valueOf(encodeFields({}, { extra: { keep_alive: "5m", min_p: "0.050", odd: "01" } })),
    '"options":{"min_p":0.050,"odd":"01"},"keep_alive":"5m"}',
  );
  assertStringIncludes(
    valueOf(encodeFields({ max_tokens: 3 }, { extra: { num_predict: "99" } })),
    '"options":{"num_predict":3}',
  );
});
