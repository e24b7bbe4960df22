/** Token prices of a model, in USD per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Price of input tokens read from the provider's cache; `input` applies if absent. */
  readonly cached_input?: number | undefined;
  /** Price of input tokens written to the provider's cache; `input` applies if absent. */
  readonly cache_write?: number | undefined;
}

function price(input: number, output: number, cached_input?: number, cache_write?: number): Price {
  return { input, output, cached_input, cache_write };
}

/**
 * The vendors' list prices by provider ID and model, as of November 2025: the standard tier and
 * cache writes for five minutes. Surcharges for long contexts and discounts for batches are not
 * included.
 */
const PRICES: Readonly<Record<string, ReadonlyMap<string, Price>>> = {
  openai: new Map([
    ["gpt-5.1", price(1.25, 10, 0.125)],
    ["gpt-5", price(1.25, 10, 0.125)],
    ["gpt-5-mini", price(0.25, 2, 0.025)],
    ["gpt-5-nano", price(0.05, 0.4, 0.005)],
    ["gpt-4.1", price(2, 8, 0.5)],
    ["gpt-4.1-mini", price(0.4, 1.6, 0.1)],
    ["gpt-4.1-nano", price(0.1, 0.4, 0.025)],
    ["gpt-4o", price(2.5, 10, 1.25)],
    ["gpt-4o-2024-05-13", price(5, 15)],
    ["gpt-4o-mini", price(0.15, 0.6, 0.075)],
    ["o1", price(15, 60, 7.5)],
    ["o3", price(2, 8, 0.5)],
    ["o3-mini", price(1.1, 4.4, 0.55)],
    ["o4-mini", price(1.1, 4.4, 0.275)],
    ["gpt-4-turbo", price(10, 30)],
    ["gpt-4", price(30, 60)],
    ["gpt-3.5-turbo", price(0.5, 1.5)],
    ["text-embedding-3-small", price(0.02, 0)],
    ["text-embedding-3-large", price(0.13, 0)],
    ["text-embedding-ada-002", price(0.1, 0)],
  ]),
  anthropic: new Map([
    ["claude-opus-4-5", price(5, 25, 0.5, 6.25)],
    ["claude-opus-4-1", price(15, 75, 1.5, 18.75)],
    ["claude-opus-4", price(15, 75, 1.5, 18.75)],
    ["claude-opus-4-0", price(15, 75, 1.5, 18.75)],
    ["claude-sonnet-4-5", price(3, 15, 0.3, 3.75)],
    ["claude-sonnet-4", price(3, 15, 0.3, 3.75)],
    ["claude-sonnet-4-0", price(3, 15, 0.3, 3.75)],
    ["claude-haiku-4-5", price(1, 5, 0.1, 1.25)],
    ["claude-3-7-sonnet", price(3, 15, 0.3, 3.75)],
    ["claude-3-5-sonnet", price(3, 15, 0.3, 3.75)],
    ["claude-3-5-haiku", price(0.8, 4, 0.08, 1)],
    ["claude-3-opus", price(15, 75, 1.5, 18.75)],
    ["claude-3-haiku", price(0.25, 1.25, 0.03, 0.3)],
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
