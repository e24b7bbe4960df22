/** Prices of a model, in USD: of tokens per million. */
export interface Price {
  /** Absent together with `output` if tokens have no price. */
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  /** Price of input tokens read from the provider's cache; `input` applies if absent. */
  readonly cached_input?: number | undefined;
  /** Price of input tokens written to the provider's cache; `input` applies if absent. */
  readonly cache_write?: number | undefined;
  /** Price of one image, of one minute of audio, and of a million characters of text for speech. */
  readonly per_image?: number | undefined;
  readonly per_minute?: number | undefined;
  readonly per_million_characters?: number | undefined;
}

/**
 * The vendors' list prices by provider ID and model, as of November 2025: the standard tier and
 * cache writes for five minutes. Surcharges for long contexts and discounts for batches are not
 * included.
 */
const PRICES: Readonly<Record<string, ReadonlyMap<string, Price>>> = {
  openai: new Map([
    ["gpt-5.1", { input: 1.25, output: 10, cached_input: 0.125 }],
    ["gpt-5", { input: 1.25, output: 10, cached_input: 0.125 }],
    ["gpt-5-mini", { input: 0.25, output: 2, cached_input: 0.025 }],
    ["gpt-5-nano", { input: 0.05, output: 0.4, cached_input: 0.005 }],
    ["gpt-4.1", { input: 2, output: 8, cached_input: 0.5 }],
    ["gpt-4.1-mini", { input: 0.4, output: 1.6, cached_input: 0.1 }],
    ["gpt-4.1-nano", { input: 0.1, output: 0.4, cached_input: 0.025 }],
    ["gpt-4o", { input: 2.5, output: 10, cached_input: 1.25 }],
    ["gpt-4o-2024-05-13", { input: 5, output: 15 }],
    ["gpt-4o-mini", { input: 0.15, output: 0.6, cached_input: 0.075 }],
    ["o1", { input: 15, output: 60, cached_input: 7.5 }],
    ["o3", { input: 2, output: 8, cached_input: 0.5 }],
    ["o3-mini", { input: 1.1, output: 4.4, cached_input: 0.55 }],
    ["o4-mini", { input: 1.1, output: 4.4, cached_input: 0.275 }],
    ["gpt-4-turbo", { input: 10, output: 30 }],
    ["gpt-4", { input: 30, output: 60 }],
    ["gpt-3.5-turbo", { input: 0.5, output: 1.5 }],
    ["text-embedding-3-small", { input: 0.02, output: 0 }],
    ["text-embedding-3-large", { input: 0.13, output: 0 }],
    ["text-embedding-ada-002", { input: 0.1, output: 0 }],
  ]),
  anthropic: new Map([
    ["claude-opus-4-5", { input: 5, output: 25, cached_input: 0.5, cache_write: 6.25 }],
    ["claude-opus-4-1", { input: 15, output: 75, cached_input: 1.5, cache_write: 18.75 }],
    ["claude-opus-4", { input: 15, output: 75, cached_input: 1.5, cache_write: 18.75 }],
    ["claude-opus-4-0", { input: 15, output: 75, cached_input: 1.5, cache_write: 18.75 }],
    ["claude-sonnet-4-5", { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }],
    ["claude-sonnet-4", { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }],
    ["claude-sonnet-4-0", { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }],
    ["claude-haiku-4-5", { input: 1, output: 5, cached_input: 0.1, cache_write: 1.25 }],
    ["claude-3-7-sonnet", { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }],
    ["claude-3-5-sonnet", { input: 3, output: 15, cached_input: 0.3, cache_write: 3.75 }],
    ["claude-3-5-haiku", { input: 0.8, output: 4, cached_input: 0.08, cache_write: 1 }],
    ["claude-3-opus", { input: 15, output: 75, cached_input: 1.5, cache_write: 18.75 }],
    ["claude-3-haiku", { input: 0.25, output: 1.25, cached_input: 0.03, cache_write: 0.3 }],
  ]),
};

/** Suffix of a model name: the vendors append the date of a snapshot, or `latest`. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/;

/**
 * Returns the list price of a model of a built-in provider ID; null if unknown. A snapshot has the
 * price of its model.
 */
export function listPrice(provider: string, model: string): Price | null {
  const known = Object.hasOwn(PRICES, provider) ? PRICES[provider] : undefined;
  return known?.get(model) ?? known?.get(model.replace(SNAPSHOT, "")) ?? null;
}
