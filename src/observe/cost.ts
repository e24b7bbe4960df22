import type { Config } from "../config/schema.ts";
import type { Usage } from "../core/events.ts";
import { listPrice, type Price } from "../data/prices.ts";

const MILLION = 1_000_000;

/** What a call has cost, in USD; null when the price of the model is not known. */
export function costOf(
  usage: Usage,
  pricing: Config["pricing"],
  provider: string,
  model: string,
): number | null {
  const price = priceOf(pricing, provider, model);
  return price === null ? null : costAt(price, usage);
}

/** The price in the file, else the vendor's; null when neither names the model. */
function priceOf(
  pricing: Config["pricing"],
  provider: string,
  model: string,
): Price | null {
  const key = `${provider}/${model}`;
  const written = Object.hasOwn(pricing, key) ? pricing[key] : undefined;
  return written ?? listPrice(provider, model);
}

/** The tokens at a price, in USD. The input counts both cache figures, which have prices of their own. */
export function costAt(price: Price, usage: Usage): number {
  const { input, output, cached_input = input, cache_write = input } = price;
  const plain = Math.max(0, usage.input - usage.cached - usage.cacheWrite);
  const sum = plain * input + usage.cached * cached_input + usage.cacheWrite * cache_write +
    usage.output * output;
  return sum / MILLION;
}
