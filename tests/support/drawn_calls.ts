import fc from "fast-check";
import type { CallRecord } from "../../src/record/record.ts";
import { recordOf } from "./replay.ts";

const MODEL = fc.constantFrom("gpt-4o", "auto", "claude-x", "openai/gpt-4o", "other");

const CONTENT = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constant([{ type: "text", text: "Hi." }]),
  fc.constant([{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }]),
  fc.constant(7),
);

const TOOL = fc.constantFrom(
  { type: "function", function: { name: "look", parameters: { type: "object" } } },
  {
    type: "function",
    function: {
      name: "look",
      strict: true,
      parameters: {
        type: "object",
        properties: { a: { type: "string" } },
        required: ["a"],
        additionalProperties: false,
      },
    },
  },
);

const CHAT = fc.record({
  model: MODEL,
  messages: fc.array(
    fc.record({ role: fc.constantFrom("user", "system", "tool"), content: CONTENT }),
    { minLength: 0, maxLength: 3 },
  ),
  stream: fc.boolean(),
  temperature: fc.constantFrom(0.5, 3, "warm"),
  tools: fc.array(TOOL, { minLength: 1, maxLength: 2 }),
  response_format: fc.constantFrom({ type: "json_object" }, { type: "text" }),
  logit_bias: fc.constant({ "5": 1 }),
  seed: fc.integer(),
  unknown_member: fc.constant(1),
}, { requiredKeys: ["model", "messages"] })
  .map((body) => drawnRecord("/v1/chat/completions", body));

const MESSAGES = fc.record({
  model: MODEL,
  max_tokens: fc.constantFrom(10, 0),
  messages: fc.constantFrom(
    [{ role: "user", content: "Hi." }],
    [{
      role: "user",
      content: [{ type: "text", text: "Hi.", cache_control: { type: "ephemeral" } }],
    }],
    [],
  ),
  system: fc.constant("Be short."),
  top_k: fc.constant(5),
  metadata: fc.constant({ user_id: "u" }),
}, { requiredKeys: ["model", "max_tokens", "messages"] })
  .map((body) => drawnRecord("/v1/messages", body));

const RESPONSES = fc.record({
  model: MODEL,
  input: fc.constantFrom("Hi.", [{ role: "user", content: "Hi." }], 5),
  instructions: fc.constant("Be short."),
  store: fc.boolean(),
  reasoning: fc.constant({ effort: "low" }),
  text: fc.constant({ format: { type: "json_object" } }),
}, { requiredKeys: ["model", "input"] })
  .map((body) => drawnRecord("/v1/responses", body));

const EMBEDDINGS = fc.record({ model: MODEL, input: fc.constantFrom("Hi.", ["a", "b"], []) })
  .map((body) => drawnRecord("/v1/embeddings", body));

/** Records of requests to four client APIs, of which some are refused. */
export const DRAWN_CALL: fc.Arbitrary<CallRecord> = fc.oneof(CHAT, MESSAGES, RESPONSES, EMBEDDINGS);

const TARGETS = [
  "{provider: openai, model: gpt-4o}",
  "{provider: openai, weight: 3}",
  "{provider: openai, upstream_request_type: responses}",
  "{provider: claude, model: claude-x}",
  "{provider: claude}",
  "{provider: own}",
];

/** Parts of a configuration, which `configText` writes. */
export interface DrawnConfig {
  readonly targets: readonly string[];
  readonly fallback: readonly string[];
  readonly strategy: string;
  readonly models: string;
  readonly capabilities: string;
}

/** Configurations with three providers and two routes. */
export const DRAWN_CONFIG: fc.Arbitrary<DrawnConfig> = fc.record({
  targets: fc.uniqueArray(fc.constantFrom(...TARGETS), { minLength: 1, maxLength: 3 }),
  fallback: fc.uniqueArray(fc.constantFrom(...TARGETS.filter((one) => !one.includes("weight"))), {
    maxLength: 2,
  }),
  strategy: fc.constantFrom("weighted", "round-robin", "random", "sticky"),
  models: fc.constantFrom("", "models: [gpt-4o]", "models: [gpt-*, auto]"),
  capabilities: fc.constantFrom("", "capabilities: {structured_outputs: true}, "),
});

/**
 * Returns the text of a configuration; with `isTurned` its providers have another order and other
 * keys.
 */
export function configText(
  { targets, fallback, strategy, models, capabilities }: DrawnConfig,
  isTurned = false,
): string {
  const key = isTurned ? "sk-second" : "sk-first";
  const providers = [
    `  openai: {type: compat, base_url: "http://sim.test/compat/v1", ${capabilities}api_key: ${key}}`,
    `  claude: {type: messages, base_url: "http://sim.test/messages", api_key: ${key}-2, default_model: claude-y}`,
    `  own: {type: local, base_url: "http://sim.test/local", default_model: own-model}`,
  ];
  return `
providers:
${(isTurned ? providers.toReversed() : providers).join("\n")}
${isTurned ? "# A comment.\n" : ""}routing:
  routes:
    - {name: first, match: {${models}}, strategy: ${strategy}, targets: [${
    targets.join(", ")
  }], fallback: [${fallback.join(", ")}]}
    - {name: rest, targets: [{provider: claude, model: claude-z}]}
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;
}

/** Returns the record of a call that was sent to no provider: any file may refuse it. */
function drawnRecord(path: string, body: Parameters<typeof recordOf>[1]) {
  return recordOf(path, body, { head: { attempts: [] } });
}
