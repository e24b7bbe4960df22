import { newTimeRing } from "./time_ring.ts";

/** Seconds over which the use of a key is added up. */
const MAX_RATE_SECONDS = 60;

/** Requests and tokens of the last minute. */
export interface KeyRate {
  readonly requests: number;
  readonly tokens: number;
}

/** Use of each client key in the last minute. */
export interface KeyRates {
  add(second: number, key: string, tokens: number): void;
  read(second: number, key: string): KeyRate;
}

const NO_USE: KeyRate = { requests: 0, tokens: 0 };

/** Returns rates without requests. Names of keys come from the file. */
export function newKeyRates(): KeyRates {
  const ring = newTimeRing(MAX_RATE_SECONDS, () => new Map<string, KeyRate>());
  return {
    add(second, key, tokens) {
      const byKey = ring.at(second);
      const earlier = byKey.get(key) ?? NO_USE;
      byKey.set(key, { requests: earlier.requests + 1, tokens: earlier.tokens + tokens });
    },
    read(second, key) {
      const recent = ring.until(second).map((byKey) => byKey.get(key) ?? NO_USE);
      return {
        requests: recent.reduce((sum, one) => sum + one.requests, 0),
        tokens: recent.reduce((sum, one) => sum + one.tokens, 0),
      };
    },
  };
}
