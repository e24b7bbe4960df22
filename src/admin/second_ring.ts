import type { CallOutcome, SecondView } from "./snapshot.ts";
import { addTime, type Histogram, newHistogram, quantile } from "./histogram.ts";

/** Number of minutes over which the page adds up calls and attempts. */
export const MAX_MINUTES = 15;

/** Content of each of the last units of time, such as the last 15 minutes. */
interface TimeRing<T> {
  /** Returns the content of a unit, new if the unit has none. */
  at(unit: number): T;
  /** Returns the contents of the last units up to this one. */
  until(unit: number): readonly T[];
}

/**
 * Returns a ring of `size` units, each of which begins with new content. Units are counted since
 * 1970.
 */
export function newTimeRing<T>(size: number, create: () => T): TimeRing<T> {
  const slots: { readonly unit: number; readonly content: T }[] = [];
  return {
    at(unit) {
      const slot = slots[unit % size];
      if (slot?.unit === unit) return slot.content;
      const content = create();
      slots[unit % size] = { unit, content };
      return content;
    },
    until: (last) =>
      slots.filter((slot) => slot !== undefined)
        .filter(({ unit }) => unit <= last && unit > last - size)
        .map(({ content }) => content),
  };
}

/** Number of seconds that are stored. */
export const MAX_SECONDS = MAX_MINUTES * 60;

/** Figures that one finished call adds to its second. */
export interface SecondCall {
  readonly outcome: CallOutcome;
  /** Milliseconds to the first token of a stream; null for every other call. */
  readonly firstTokenMs: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Cost; null if it is not known. */
  readonly usd: number | null;
}

interface Slot {
  second: number;
  calls: number;
  failures: number;
  refusals: number;
  notSent: number;
  /** Calls without a known cost. */
  unpriced: number;
  inputTokens: number;
  outputTokens: number;
  usd: number;
  openStreams: number;
  readonly times: Histogram;
}

/**
 * Returns counters of the last 15 minutes, one for each second. Their memory does not grow with
 * them.
 */
export function newSecondRing() {
  const slots: Slot[] = Array.from({ length: MAX_SECONDS }, () => ({
    ...EMPTY,
    second: -1,
    times: newHistogram(),
  }));

  /** Returns the slot of a second, emptied if it has an older one. */
  function slotOf(second: number): Slot | undefined {
    const slot = slots[second % MAX_SECONDS];
    if (slot === undefined || slot.second === second) return slot;
    Object.assign(slot, EMPTY, { second });
    slot.times.fill(0);
    return slot;
  }

  return {
    add(
      second: number,
      { outcome, firstTokenMs, inputTokens, outputTokens, usd }: SecondCall,
    ): void {
      const slot = slotOf(second);
      if (slot === undefined) return;
      slot.calls++;
      if (outcome === "failed") slot.failures++;
      else if (outcome === "refused") slot.refusals++;
      else if (outcome === "not_sent") slot.notSent++;
      if (firstTokenMs !== null) addTime(slot.times, firstTokenMs);
      slot.inputTokens += inputTokens;
      slot.outputTokens += outputTokens;
      if (usd === null) slot.unpriced++;
      else slot.usd += usd;
    },
    /** Sets the number of open streams of a second. */
    setStreams(second: number, open: number): void {
      const slot = slotOf(second);
      if (slot !== undefined) slot.openStreams = open;
    },
    /** Returns the seconds from `from` to before `until` that have calls or open streams. */
    read(from: number, until: number): readonly SecondView[] {
      const first = Math.max(from, until - MAX_SECONDS);
      const views: SecondView[] = [];
      for (let second = first; second < until; second++) {
        const slot = slots[second % MAX_SECONDS];
        if (slot === undefined || slot.second !== second) continue;
        if (slot.calls > 0 || slot.openStreams > 0) views.push(viewOf(slot));
      }
      return views;
    },
  };
}

const EMPTY = {
  calls: 0,
  failures: 0,
  refusals: 0,
  notSent: 0,
  unpriced: 0,
  inputTokens: 0,
  outputTokens: 0,
  usd: 0,
  openStreams: 0,
};

function viewOf({ times, unpriced, ...counts }: Slot): SecondView {
  return {
    ...counts,
    usd: counts.usd === 0 && unpriced > 0 ? null : counts.usd,
    firstTokenP50Ms: quantile([times], 0.5),
    firstTokenP95Ms: quantile([times], 0.95),
  };
}

/** Seconds over which the use of a key is added up. */
const MAX_RATE_SECONDS = 60;

/** Requests and tokens of the last minute. */
export interface KeyRate {
  readonly requests: number;
  readonly tokens: number;
}

/** Use of each client key in the last minute. */
export type KeyRates = ReturnType<typeof newKeyRates>;

const NO_USE: KeyRate = { requests: 0, tokens: 0 };

/** Returns rates without requests. Names of keys come from the file. */
export function newKeyRates() {
  const ring = newTimeRing(MAX_RATE_SECONDS, () => new Map<string, KeyRate>());
  return {
    add(second: number, key: string, tokens: number): void {
      const byKey = ring.at(second);
      const earlier = byKey.get(key) ?? NO_USE;
      byKey.set(key, { requests: earlier.requests + 1, tokens: earlier.tokens + tokens });
    },
    read(second: number, key: string): KeyRate {
      const recent = ring.until(second).map((byKey) => byKey.get(key) ?? NO_USE);
      return {
        requests: recent.reduce((sum, one) => sum + one.requests, 0),
        tokens: recent.reduce((sum, one) => sum + one.tokens, 0),
      };
    },
  };
}
