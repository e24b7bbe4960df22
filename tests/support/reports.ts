import type { CallReport } from "../../src/observe/report.ts";
import { inTime } from "./in_time.ts";

/** Returns an empty list of reports, which a test can wait for. */
export function newReports(maxMs?: number) {
  const reports: Readonly<CallReport>[] = [];
  const waiting: { readonly count: number; resolve(report: Readonly<CallReport>): void }[] = [];
  return {
    reports,
    add(report: Readonly<CallReport>): void {
      reports.push(report);
      for (const { count, resolve } of waiting) if (count === reports.length) resolve(report);
    },
    /**
     * Resolves with the report of call number `count`, counted from 1, once it is over. Rejects
     * with the number of reports if it does not come.
     */
    reported(count: number): Promise<Readonly<CallReport>> {
      const known = reports[count - 1];
      if (known !== undefined) return Promise.resolve(known);
      const { promise, resolve } = Promise.withResolvers<Readonly<CallReport>>();
      waiting.push({ count, resolve });
      return inTime(promise, () => `${reports.length} of ${count} calls are over`, maxMs);
    },
  };
}
