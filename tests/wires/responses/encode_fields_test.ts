import { assertEquals } from "../../support/assert.ts";
import { assertFailed, valueOf } from "../../support/translated.ts";
import { added, encodeFields, encodeText } from "./encoded_request.ts";

Deno.test("a plain request is sent with only its input and model, and is not stored upstream", () => {
  assertEquals<unknown>(valueOf(encodeFields({})), {
    model: "m",
    input: [{ type: "message", role: "user", content: "Hi" }],
    store: false,
  });
});

Deno.test("fields of the same meaning keep name and value", () => {
  const same = {
    metadata: { a: "b" },
    service_tier: "flex",
    user: "u",
    safety_identifier: "s",
    prompt_cache_key: "k",
    prompt_cache_retention: "24h",
    prompt_cache_options: { mode: "explicit" },
    moderation: { model: "m", policy: null },
    parallel_tool_calls: true,
    temperature: 2,
    top_p: 0,
  };
  assertEquals<unknown>(added(same), same);
});

Deno.test("fields with another name or position keep their value", () => {
  const cases: readonly (readonly [given: Record<string, unknown>, sent: unknown])[] = [
    [{ max_tokens: 16 }, { max_output_tokens: 16 }],
    [{ max_completion_tokens: 99 }, { max_output_tokens: 99 }],
    [{ max_completion_tokens: 99, max_tokens: 99 }, { max_output_tokens: 99 }],
    [{ max_completion_tokens: 99, max_tokens: 1 }, { max_output_tokens: 99 }],
    [{ max_completion_tokens: null, max_tokens: 16 }, { max_output_tokens: 16 }],
    [{ logprobs: true }, { include: ["message.output_text.logprobs"] }],
    [{ logprobs: true, top_logprobs: 0 }, {
      top_logprobs: 0,
      include: ["message.output_text.logprobs"],
    }],
    [{ logprobs: true, top_logprobs: 20 }, {
      top_logprobs: 20,
      include: ["message.output_text.logprobs"],
    }],
    [{ reasoning_effort: "none" }, { reasoning: { effort: "none" } }],
    [{ reasoning: { effort: "xhigh" } }, { reasoning: { effort: "xhigh" } }],
    [{ reasoning_effort: "low", reasoning: { effort: "low" } }, { reasoning: { effort: "low" } }],
    [{ reasoning: {} }, {}],
    [{ verbosity: "high" }, { text: { verbosity: "high" } }],
    [{ response_format: { type: "text" } }, { text: { format: { type: "text" } } }],
    [{ response_format: { type: "json_object" } }, { text: { format: { type: "json_object" } } }],
    [{
      response_format: {
        type: "json_schema",
        json_schema: { name: "n", schema: {}, strict: true, description: null },
      },
    }, { text: { format: { type: "json_schema", name: "n", schema: {}, strict: true } } }],
    [{ stream: true }, { stream: true }],
    [{ stream: true, stream_options: { include_usage: true } }, { stream: true }],
    [{ stream: true, stream_options: { include_obfuscation: false } }, {
      stream: true,
      stream_options: { include_obfuscation: false },
    }],
    [{ stream: false, stream_options: { include_obfuscation: false } }, {}],
  ];
  for (const [given, sent] of cases) assertEquals<unknown>(added(given), sent);
});

Deno.test("values that request nothing are not sent", () => {
  const nothing = {
    n: 1,
    stop: [],
    frequency_penalty: 0,
    presence_penalty: 0,
    logit_bias: {},
    logprobs: false,
    top_logprobs: 0,
    modalities: ["text"],
    store: false,
    seed: null,
    audio: null,
    temperature: null,
    tools: null,
    response_format: null,
    stream_options: null,
    unheard_of: null,
  };
  assertEquals(added(nothing), {});
});

Deno.test("a field without an exact counterpart is refused by name", () => {
  const refused = {
    n: 2,
    seed: 1,
    frequency_penalty: 0.1,
    presence_penalty: -1,
    logit_bias: { "1": 2 },
    modalities: ["text", "audio"],
    audio: { voice: "v", format: "mp3" },
    prediction: { type: "content", content: "a" },
    web_search_options: {},
    store: true,
    top_k: 3,
    thinking: { type: "enabled" },
    instructions: "a",
    unheard_of: 0,
  };
  for (const [key, value] of Object.entries(refused)) {
    assertFailed(encodeFields({ [key]: value }), "unsupported_feature", key);
  }
});

Deno.test("a value that cannot be translated is refused with its path", () => {
  const schema = (json_schema: unknown) => ({
    response_format: { type: "json_schema", json_schema },
  });
  const nested = "response_format.json_schema";
  const cases: readonly [Parameters<typeof assertFailed>[1], Record<string, unknown>, string][] = [
    ["unsupported_feature", { max_tokens: 15 }, "max_tokens"],
    ["unsupported_feature", { max_completion_tokens: 1 }, "max_completion_tokens"],
    ["invalid_type", { max_tokens: 16.5 }, "max_tokens"],
    ["unsupported_feature", { max_tokens: 16, max_completion_tokens: 15 }, "max_completion_tokens"],
    ["invalid_parameter_combination", { top_logprobs: 2 }, "top_logprobs"],
    ["invalid_parameter_combination", { top_logprobs: 2, logprobs: false }, "top_logprobs"],
    ["invalid_type", { top_logprobs: 2.5, logprobs: true }, "top_logprobs"],
    ["invalid_type", { reasoning: "low" }, "reasoning"],
    ["invalid_type", { reasoning: { effort: 1 } }, "reasoning.effort"],
    ["unsupported_feature", { reasoning: { summary: "auto" } }, "reasoning.summary"],
    [
      "invalid_parameter_combination",
      { reasoning_effort: "low", reasoning: { effort: "high" } },
      "reasoning.effort",
    ],
    ["unsupported_feature", { response_format: { type: "grammar" } }, "response_format.type"],
    [
      "unsupported_feature",
      { response_format: { type: "text", json_schema: {} } },
      "response_format.json_schema",
    ],
    ["missing_required_parameter", { response_format: { type: "json_schema" } }, nested],
    ["missing_required_parameter", schema({ schema: {} }), `${nested}.name`],
    ["missing_required_parameter", schema({ name: "n" }), `${nested}.schema`],
    ["invalid_type", schema({ name: "n", schema: [] }), `${nested}.schema`],
    ["unsupported_feature", schema({ name: "n", schema: {}, x: 1 }), `${nested}.x`],
    [
      "unsupported_feature",
      { stream: true, stream_options: { include_obfuscation: true } },
      "stream_options.include_obfuscation",
    ],
    ["unsupported_feature", { stream: true, stream_options: { x: 1 } }, "stream_options.x"],
  ];
  for (const [kind, fields, param] of cases) assertFailed(encodeFields(fields), kind, param);
});

Deno.test("sampling values of the request override the provider's, and null means not set", () => {
  const defaults = { temperature: 0.5, top_p: 0.9, top_k: 4 };
  assertEquals<unknown>(added({}, defaults), { temperature: 0.5, top_p: 0.9 });
  assertEquals<unknown>(added({ temperature: 0, top_p: null }, defaults), {
    temperature: 0,
    top_p: 0.9,
  });
});

Deno.test("numbers keep their text", () => {
  const text = valueOf(encodeText(
    '{"messages":[{"role":"user","content":"Hi"}],"temperature":1.0,"max_tokens":1e3,' +
      '"tools":[{"type":"function","function":{"name":"f","parameters":' +
      '{"const":12345678901234567890}}}]}',
  ));
  assertEquals(
    text,
    '{"model":"m","input":[{"type":"message","role":"user","content":"Hi"}],' +
      '"max_output_tokens":1e3,"temperature":1.0,"tools":[{"type":"function","name":"f",' +
      '"parameters":{"const":12345678901234567890},"strict":false}],' +
      '"include":["reasoning.encrypted_content"],"store":false}',
  );
});
