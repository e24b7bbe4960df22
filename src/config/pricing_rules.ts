import { nearest, type Problem } from "./problems.ts";
import type { Config } from "./schema.ts";

/** Returns a warning for each price whose provider is not configured. */
export function pricingWarnings({ pricing, providers }: Config): Problem[] {
  const ids = Object.keys(providers);
  return Object.keys(pricing).flatMap((key): Problem[] => {
    const id = key.slice(0, key.indexOf("/"));
    if (Object.hasOwn(providers, id)) return [];
    const likely = nearest(id, ids);
    const hint = likely === null ? "" : `; did you mean "${likely}"?`;
    const text = `is the price of a provider that is not configured${hint}`;
    return [{ path: ["pricing", key], text, at: "key" }];
  });
}
