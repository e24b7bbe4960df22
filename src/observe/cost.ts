import type { Config } from "../config/schema.ts";
import type { Usage } from "../core/events.ts";
import { listPrice, type Price } from "../data/prices.ts";

const MILLION = 1_000_000;

/** Returns the cost of a call in USD; null if the price of the model is unknown. */
export function computeCost(
  usage: Usage,
  pricing: Config["pricing"],
  provider: string,
  model: string,
): number | null {
  const price = findPrice(pricing, provider, model);
  return price === null ? null : costAt(price, usage);
}

/** Returns the configured price, else the vendor's list price; null if neither has the model. */
export function findPrice(
  pricing: Config["pricing"],
  provider: string,
  model: string,
): Price | null {
  const key = `${provider}/${model}`;
  const written = Object.hasOwn(pricing, key) ? pricing[key] : undefined;
  return written ?? listPrice(provider, model);
}

/** Returns the cost of tokens in USD. `usage.input` includes cached tokens, which have separate prices. */
export function costAt(price: Price, usage: Usage): number {
  const { input, output, cached_input = input, cache_write = input } = price;
  const plain = Math.max(0, usage.input - usage.cached - usage.cacheWrite);
  const sum = plain * input + usage.cached * cached_input + usage.cacheWrite * cache_write +
    usage.output * output;
  return sum / MILLION;
}
