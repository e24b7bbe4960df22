import type { Usage } from "../core/stream/events.ts";
import type { Fault } from "../core/failure/failure.ts";
import { isObject, numberOf } from "../core/json/json.ts";
import { type Failed, invalidResponse } from "../core/failure/result.ts";
import type { Optional } from "../prompt/refusals.ts";

/** The token counts of one response; null if the provider does not send them. */
export interface TokenCounts {
  readonly input: number | null;
  readonly output: number | null;
  /** Total tokens. If absent or null, the sum of input and output when both are known. */
  readonly total?: number | null;
  readonly cached?: number | null;
  readonly cacheWrite?: number | null;
  readonly reasoning?: number | null;
}

/**
 * Largest token count of a response, a hundred times the largest context of today. One faulty
 * number above it would exhaust all budgets of its client.
 */
const MAX_TOKENS = 1_000_000_000;

/**
 * Returns the token count in a field; null unless it is a number from 0 to 1,000,000,000. A count
 * that is null is estimated.
 */
export function tokenCount(value: Optional): number | null {
  const count = numberOf(value);
  return count !== null && count >= 0 && count <= MAX_TOKENS ? count : null;
}

/** Returns the token count in a field that is left out for zero; null for an invalid one. */
export function countOrZero(value: Optional): number | null {
  return value === undefined || value === null ? 0 : tokenCount(value);
}

/**
 * Returns the fault of a response with a fractional token count in one of these members of an
 * object: such counts cannot be accounted. Null if every number is an integer.
 */
export function fractionProblem(value: Optional, names: readonly string[]): Failed<Fault> | null {
  if (!isObject(value)) return null;
  for (const name of names) {
    if (Number.isInteger(numberOf(value[name]) ?? 0)) continue;
    return invalidResponse("The provider sent a token count that is no whole number.");
  }
  return null;
}

/** Returns the sum of counts that do not overlap; null if one of them is. */
export function sumOf(...counts: readonly (number | null)[]): number | null {
  return counts.reduce((sum, count) => sum === null || count === null ? null : sum + count, 0);
}

/** Returns the usage with these counts; null if neither input nor output is known. */
export function usageFrom(counts: TokenCounts): Usage | null {
  const { input, output, total = null } = counts;
  if (input === null && output === null) return null;
  const unknown = input === null ? "input" : output === null ? "output" : null;
  const sum = (input ?? 0) + (output ?? 0);
  return {
    input: input ?? 0,
    output: output ?? 0,
    total: total ?? (unknown === null ? sum : null),
    cached: counts.cached ?? 0,
    cacheWrite: counts.cacheWrite ?? 0,
    reasoning: counts.reasoning ?? 0,
    ...unknown !== null && { unknown },
  };
}
