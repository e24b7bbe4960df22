import type { Counter } from "prom-client";

/** Labels of a counter by name. */
type LabelValues = Readonly<Record<string, string>>;

/** Increments of a counter that are added up before the counter is increased. */
export interface Tally {
  /** Adds to the sum of these labels. Their names must have the same order in each call. */
  inc(labels: LabelValues, value?: number): void;
  /** Increases the counter by all sums, which are then empty. */
  flush(): void;
}

/**
 * Returns a tally of a counter. The counter finds its value by its sorted labels, which costs several times as
 * much as the sum; requests mostly have the same labels.
 */
export function newTally(counter: Counter<string>): Tally {
  const sums = new Map<string, { readonly labels: LabelValues; value: number }>();

  return {
    inc(labels, value = 1) {
      let key = "";
      // A list of the values would cost as much as the counter does.
      for (const name in labels) key += `${labels[name]}\0`;
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { labels, value });
      else sum.value += value;
    },
    flush() {
      for (const { labels, value } of sums.values()) counter.inc({ ...labels }, value);
      sums.clear();
    },
  };
}
