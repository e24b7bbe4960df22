import type { Config } from "../config/schema.ts";
import type { Usage } from "../core/events.ts";
import { compileGlob } from "../core/glob.ts";
import { listPrice, type Price } from "../data/prices.ts";

const MILLION = 1_000_000;

/** Prices and provider types of a configuration. */
export type Pricing = Pick<Config, "pricing" | "providers">;

/** Returns the cost of a call in USD; null if the price of the model is unknown. */
export function computeCost(
  usage: Usage,
  pricing: Pricing,
  provider: string,
  model: string,
): number | null {
  const price = findPrice(pricing, provider, model);
  return price === null ? null : costAt(price, usage);
}

/**
 * Returns the configured price of a model, else that of the most specific pattern, else the vendor's list
 * price; null without any. Models of a local provider cost nothing unless they are priced.
 */
export function findPrice(
  { pricing, providers }: Pricing,
  provider: string,
  model: string,
): Price | null {
  const key = `${provider}/${model}`;
  const written = Object.hasOwn(pricing, key) ? pricing[key] : undefined;
  const found = written ?? patternsOf(pricing).find(({ isMeant }) => isMeant(key))?.price ??
    listPrice(provider, model);
  if (found !== null) return found;
  const isLocal = Object.hasOwn(providers, provider) && providers[provider]?.type === "local";
  return isLocal ? FREE : null;
}

const FREE: Price = { input: 0, output: 0 };

/** A price of all models that a pattern matches. */
interface PatternPrice {
  readonly isMeant: (key: string) => boolean;
  readonly price: Price;
}

/** Compiled patterns of each configuration. */
const compiled = new WeakMap<Config["pricing"], readonly PatternPrice[]>();

/** Returns the patterns of a configuration, the one with the most characters besides `*` first. */
function patternsOf(pricing: Config["pricing"]): readonly PatternPrice[] {
  const known = compiled.get(pricing);
  if (known !== undefined) return known;
  const literal = (glob: string) => glob.replaceAll("*", "").length;
  const patterns = Object.entries(pricing).filter(([glob]) => glob.includes("*"))
    .toSorted(([one], [other]) => literal(other) - literal(one))
    .map(([glob, price]) => ({ isMeant: compileGlob(glob), price }));
  compiled.set(pricing, patterns);
  return patterns;
}

/** Returns the cost of tokens in USD. `usage.input` includes cached tokens, which have separate prices. */
export function costAt(price: Price, usage: Usage): number {
  const { input, output, cached_input = input, cache_write = input } = price;
  const plain = Math.max(0, usage.input - usage.cached - usage.cacheWrite);
  const sum = plain * input + usage.cached * cached_input + usage.cacheWrite * cache_write +
    usage.output * output;
  return sum / MILLION;
}
