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

interface Slot {
  second: number;
  requests: number;
  tokens: number;
}

/** Returns rates without requests. Names of keys come from the file. */
export function newKeyRates(): KeyRates {
  const byKey = new Map<string, Slot[]>();
  return {
    add(second, key, tokens) {
      let slots = byKey.get(key);
      if (slots === undefined) {
        slots = Array.from(
          { length: MAX_RATE_SECONDS },
          () => ({ second: -1, requests: 0, tokens: 0 }),
        );
        byKey.set(key, slots);
      }
      const slot = slots[second % MAX_RATE_SECONDS];
      if (slot === undefined) return;
      if (slot.second !== second) Object.assign(slot, { second, requests: 0, tokens: 0 });
      slot.requests++;
      slot.tokens += tokens;
    },
    read(second, key) {
      const recent = byKey.get(key)?.filter((slot) => slot.second > second - MAX_RATE_SECONDS) ??
        [];
      return {
        requests: recent.reduce((sum, slot) => sum + slot.requests, 0),
        tokens: recent.reduce((sum, slot) => sum + slot.tokens, 0),
      };
    },
  };
}
