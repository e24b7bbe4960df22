import { addedCpuUs, quantile, rateRatio, type ScenarioResult } from "../report.ts";
import type { ScenarioTarget } from "../scenarios.ts";

const HEADING = "\n## Targets\n";
const ROW = /^(\| `([\w-]+)` \| .+ \| )[^|]+ \|$/gm;

/**
 * Returns a page whose targets have the figures of these results as measured, so that they are
 * those of the table of the same run. Rows of other measurements stay.
 */
export function writeTargets(page: string, results: readonly ScenarioResult[]): string {
  const begin = page.indexOf(HEADING) + HEADING.length;
  if (begin < HEADING.length) return page;
  const end = page.indexOf("\n## ", begin);
  const section = page.slice(begin, end === -1 ? page.length : end);
  const written = new Map<string, number>();
  const changed = section.replace(ROW, (row: string, cells: string, name: string) => {
    const result = results.find(({ scenario }) => scenario.name === name);
    const index = written.get(name) ?? 0;
    const target = result?.scenario.targets[index];
    if (result === undefined || target === undefined) return row;
    written.set(name, index + 1);
    return `${cells}${measuredText(target, result)} |`;
  });
  return page.slice(0, begin) + changed + page.slice(begin + section.length);
}

/** Returns the figure that a target bounds, with the floor next to a time. */
function measuredText(target: ScenarioTarget, { base, measured }: ScenarioResult): string {
  switch (target.kind) {
    case "min_rate_ratio":
      return rateRatio(base, measured).toFixed(2);
    case "max_cpu_ratio":
      return measured.cpuUs === null || base.cpuUs === null
        ? "–"
        : (measured.cpuUs / base.cpuUs).toFixed(2);
    case "max_p99": {
      const [own, floor] = [measured, base].map(({ timesUs }) =>
        (quantile(timesUs, 0.99) / 1000).toFixed(2)
      );
      return `${own} ms; floor ${floor} ms`;
    }
    case "max_added_cpu":
      return `${addedCpuUs(base, measured).toFixed(0)} µs`;
    case "max_added_latency":
      return `${(quantile(measured.timesUs, 0.5) - quantile(base.timesUs, 0.5)).toFixed(0)} µs`;
  }
}
