/**
 * Names of Messages models with the most tokens that each may write in one answer, as the vendor
 * publishes them. As of February 2026. An unlisted model is asked for `UNKNOWN_CEILING`.
 */
const CEILINGS: ReadonlyMap<string, number> = new Map([
  ["claude-opus-4-6", 128_000],
  ["claude-sonnet-4-6", 64_000],
  ["claude-opus-4-5", 64_000],
  ["claude-opus-4-1", 32_000],
  ["claude-opus-4-0", 32_000],
  ["claude-opus-4", 32_000],
  ["claude-sonnet-4-5", 64_000],
  ["claude-sonnet-4-0", 64_000],
  ["claude-sonnet-4", 64_000],
  ["claude-haiku-4-5", 64_000],
  ["claude-3-7-sonnet", 64_000],
  ["claude-3-5-haiku", 8_192],
  ["claude-3-haiku", 4_096],
]);

/** Every current model can write this much. */
const UNKNOWN_CEILING = 32_000;

/** The models that are listed where an upstream is not asked for its own. */
export const BUILT_IN_MODELS: readonly string[] = [
  "claude-opus-4-6",
  "claude-sonnet-4-6",
  "claude-opus-4-5",
  "claude-opus-4-1",
  "claude-sonnet-4-5",
  "claude-haiku-4-5",
];

/**
 * Tokens to ask for when the client names no limit: what the provider is configured with, else all
 * that the model can write. Never above a ceiling that is known.
 */
export function defaultMaxTokens(model: string, configured: string | undefined): number {
  const ceiling = CEILINGS.get(model.replace(/-(?:\d{8}|latest)$/, ""));
  const wanted = /^0*[1-9]\d*$/.test(configured ?? "") ? Number(configured) : null;
  return Math.min(wanted ?? ceiling ?? UNKNOWN_CEILING, ceiling ?? Infinity);
}
