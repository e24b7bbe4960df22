import { type Attempt, wasSent } from "../observe/report.ts";
import { addTime, type Histogram, newHistogram, quantile } from "./histogram.ts";
import { MAX_MINUTES, newTimeRing } from "./second_ring.ts";
import type { ProviderView } from "./snapshot.ts";

/** Attempts at one provider in the last 15 minutes. */
export type ProviderCounts = Pick<
  ProviderView,
  "attempts" | "outcomes" | "notSent" | "p50Ms" | "p95Ms"
>;

interface ProviderMinute {
  readonly outcomes: Map<Attempt["outcome"], number>;
  readonly times: Histogram;
}

/**
 * Returns the attempts at all providers in the last 15 minutes. Providers and outcomes come from
 * the file and the code.
 */
export function newProviderWindow() {
  const ring = newTimeRing(MAX_MINUTES, () => new Map<string, ProviderMinute>());

  return {
    add(minute: number, provider: string, outcome: Attempt["outcome"], ms: number): void {
      const byProvider = ring.at(minute);
      let found = byProvider.get(provider);
      if (found === undefined) {
        found = { outcomes: new Map(), times: newHistogram() };
        byProvider.set(provider, found);
      }
      found.outcomes.set(outcome, (found.outcomes.get(outcome) ?? 0) + 1);
      if (outcome === "success") addTime(found.times, ms);
    },
    read(minute: number, provider: string): ProviderCounts {
      const found = ring.until(minute).flatMap((one) => one.get(provider) ?? []);
      const outcomes: Record<string, number> = {}, notSent: Record<string, number> = {};
      let attempts = 0;
      for (const one of found) {
        for (const [outcome, count] of one.outcomes) {
          const isSent = wasSent({ outcome });
          if (isSent) attempts += count;
          const counts = isSent ? outcomes : notSent;
          counts[outcome] = (counts[outcome] ?? 0) + count;
        }
      }
      const times = found.map((one) => one.times);
      return {
        attempts,
        outcomes,
        notSent,
        p50Ms: quantile(times, 0.5),
        p95Ms: quantile(times, 0.95),
      };
    },
  };
}
