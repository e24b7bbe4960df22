import type { Settings } from "./providers.ts";
import { memberOf, numberOf, type Tree } from "./source.ts";

/** Prices of an entry in USD per million tokens, and the values of the source. */
export interface EntryPrice {
  readonly price: Settings;
  readonly trees: readonly (readonly [tree: Tree, member: string])[];
}

/** Members with a price of one token, and those of `pricing`. */
const PRICES = [
  ["input_cost_per_token", "input"],
  ["output_cost_per_token", "output"],
  ["cache_read_input_token_cost", "cached_input"],
  ["cache_creation_input_token_cost", "cache_write"],
] as const;

const MILLION = 1_000_000;

/** Digits of a price that are exact after the product with a million. */
const PRICE_DIGITS_COUNT = 12;

/** Returns the prices of an entry; null unless it has one for input and one for output. */
export function readPrice(params: Tree, info: Tree | undefined): EntryPrice | null {
  const price: Record<string, number> = {};
  const trees: [Tree, string][] = [];
  for (const [key, member] of PRICES) {
    const tree = memberOf(info, key) ?? memberOf(params, key);
    const value = numberOf(tree);
    if (tree === undefined || value === null || value < 0) continue;
    price[member] = Number((value * MILLION).toPrecision(PRICE_DIGITS_COUNT));
    trees.push([tree, member]);
  }
  return price.input === undefined || price.output === undefined ? null : { price, trees };
}
