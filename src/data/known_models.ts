/**
 * Model IDs and token limits that the vendors publish, for providers whose model list is not
 * fetched. Each table states its date. Models that are not listed here work too.
 */

/** Models listed for the OpenAI API if the provider's list is not fetched. As of August 2026. */
export const OPENAI_MODELS: readonly string[] = [
  "gpt-4.1",
  "gpt-4.1-mini",
  "gpt-4.1-nano",
  "gpt-4o",
  "gpt-4o-mini",
  "gpt-5",
  "gpt-5-mini",
  "gpt-5-nano",
  "o3",
  "o4-mini",
  "text-embedding-3-large",
  "text-embedding-3-small",
];

/**
 * Models listed for the Anthropic API if the provider's list is not fetched. As of February 2026.
 */
export const ANTHROPIC_MODELS: readonly string[] = [
  "claude-haiku-4-5",
  "claude-opus-4-1",
  "claude-opus-4-5",
  "claude-opus-4-6",
  "claude-sonnet-4-5",
  "claude-sonnet-4-6",
];

/**
 * Beginnings of the names of OpenAI models that do not reason, and refuse a request for encrypted
 * reasoning. As of August 2026.
 */
const MODELS_WITHOUT_REASONING: readonly string[] = [
  "chatgpt-4",
  "gpt-3.5",
  "gpt-4",
  "gpt-5-chat",
];

/**
 * True unless the model is known not to reason. A fine-tuned model is named after its base model.
 */
export function mayReason(model: string): boolean {
  const base = model.replace(/^ft:/, "");
  return !MODELS_WITHOUT_REASONING.some((beginning) => base.startsWith(beginning));
}

/**
 * Maximum output tokens of a model in one response, by model name without date. As of February
 * 2026.
 */
export const MAX_OUTPUT_TOKENS: ReadonlyMap<string, number> = new Map([
  ["claude-3-5-haiku", 8_192],
  ["claude-3-7-sonnet", 64_000],
  ["claude-3-haiku", 4_096],
  ["claude-haiku-4-5", 64_000],
  ["claude-opus-4", 32_000],
  ["claude-opus-4-0", 32_000],
  ["claude-opus-4-1", 32_000],
  ["claude-opus-4-5", 64_000],
  ["claude-opus-4-6", 128_000],
  ["claude-sonnet-4", 64_000],
  ["claude-sonnet-4-0", 64_000],
  ["claude-sonnet-4-5", 64_000],
  ["claude-sonnet-4-6", 64_000],
]);
