import type { Config } from "../config/schema.ts";
import type { BilledUnits, Usage } from "../core/stream/events.ts";
import { compileGlob } from "../core/glob.ts";
import { listPrice, type Price } from "../data/prices.ts";

const MILLION = 1_000_000;

/** Prices and provider types of a configuration. */
export type Pricing = Pick<Config, "pricing" | "providers">;

/** Tokens and units of a call. */
export interface Used {
  readonly usage: Usage | null;
  readonly units: BilledUnits | null;
}

/**
 * Returns the cost of a call in USD: of its tokens if they are known and have a price, else of its
 * images, audio and characters. Null if nothing is counted that has a price.
 */
export function computeCost(
  used: Used,
  pricing: Pricing,
  provider: string,
  model: string,
): number | null {
  const price = findPrice(pricing, provider, model);
  return price === null ? null : costOfUse(price, used);
}

/**
 * Returns the cost of a use with this price in USD; null if nothing is counted that has a price.
 */
export function costOfUse(price: Price, { usage, units }: Used): number | null {
  const tokens = usage === null ? null : costAt(price, usage);
  return tokens ?? (units === null ? null : unitCost(price, units));
}

const MINUTE_S = 60;

/** Returns the cost of images, audio and characters in USD; null if none of them has a price. */
function unitCost(
  { per_image, per_minute, per_million_characters }: Price,
  { images, seconds, characters }: BilledUnits,
): number | null {
  const costs = [
    [per_image, images],
    [per_minute, seconds === undefined ? undefined : seconds / MINUTE_S],
    [per_million_characters, characters === undefined ? undefined : characters / MILLION],
  ].flatMap(([price, count]) => price === undefined || count === undefined ? [] : [price * count]);
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost);
}

/**
 * Returns the configured price of a model, else that of the most specific pattern, else the
 * vendor's list price. Models of a local provider cost nothing unless they are priced.
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

/**
 * Returns the cost of tokens in USD; null if tokens have no price. `usage.input` includes cached
 * tokens, which have separate prices.
 */
export function costAt(price: Price, usage: Usage): number | null {
  const { input, output } = price;
  if (input === undefined || output === undefined) return null;
  const { cached_input = input, cache_write = input } = price;
  const plain = Math.max(0, usage.input - usage.cached - usage.cacheWrite);
  const sum = plain * input + usage.cached * cached_input + usage.cacheWrite * cache_write +
    billedOutput(usage) * output;
  return sum / MILLION;
}

/**
 * Returns the output tokens that are billed. Some providers count hidden reasoning in the total
 * only, and some have cached tokens in the total but not in the input.
 */
export function billedOutput(usage: Usage): number {
  const { input, output, total, cached, cacheWrite, reasoning, unknown } = usage;
  if (total === null || unknown !== undefined) return output;
  const more = total - input - output;
  return output + Math.max(0, Math.min(more, reasoning), more - cached - cacheWrite);
}
