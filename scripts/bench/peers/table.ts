import { median, quantile, rateRatio, type ScenarioResult } from "../report.ts";
import type { Measurement, RunLength } from "../measure.ts";
import { findPeerTask } from "./peer.ts";

/** Facts of the run above the table. */
export interface RunFacts extends RunLength {
  readonly date: Date;
  readonly machine: string;
  /**
   * The load averages of the machine before the run; null where the system does not report them.
   */
  readonly loadAverages: readonly number[] | null;
  /** Names of the measured programs with their versions. */
  readonly versions: readonly string[];
}

/** The lines around the table in the documentation. */
const BEGIN = "<!-- table of peers: `./scripts/deno task bench --peer litellm --peer portkey " +
    "--peer nginx --write` writes it -->",
  END = "<!-- end of table of peers -->";

/** Returns a page with a new table between the marks; null if it has no marks. */
export function writeTable(page: string, table: string): string | null {
  const [before, rest] = splitOnce(page, `${BEGIN}\n`);
  const [, after] = splitOnce(rest ?? "", END);
  return after === null ? null : `${before}${BEGIN}\n\n${table}\n${END}${after}`;
}

function splitOnce(text: string, mark: string): readonly [string, string | null] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + mark.length)];
}

/** Returns the table of the scenarios with peers, with the facts of the run. */
export function peerTable(results: readonly ScenarioResult[], facts: RunFacts): string {
  const compared = results.filter(({ scenario }) => findPeerTask(scenario) !== null);
  const reasons = new Map<string, string[]>();
  for (const { scenario, peers } of compared) {
    for (const peer of peers) {
      if (peer.kind === "measured") continue;
      const key = `${peer.name}: ${escapeCell(peer.reason)}`;
      reasons.set(key, [...reasons.get(key) ?? [], `\`${scenario.name}\``]);
    }
  }
  const lines = [
    factsText(facts),
    "",
    "| row | system | rate/s | rate / floor | p50 ms | p99 ms | CPU µs | core |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ...compared.flatMap(rowsOf),
    "",
    ...reasons.size === 0 ? [] : [
      "– means no figure:",
      "",
      ...[...reasons].map(([reason, names]) => `- ${reason} (${names.join(", ")})`),
      "",
    ],
  ];
  return lines.join("\n");
}

function factsText({ date, machine, loadAverages, versions, rounds, seconds }: RunFacts): string {
  const day = date.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "long",
    year: "numeric",
    timeZone: "UTC",
  });
  const load = loadAverages === null
    ? ""
    : `, load averages before the run ${loadAverages.map((one) => one.toFixed(2)).join(", ")}`;
  return `Measured on ${day}: ${machine}${load}; ${
    rounds === 1 ? "one round" : `medians of ${rounds} rounds`
  } of ${seconds} s.\n` +
    `${versions.join(", ")}.`;
}

function rowsOf({ scenario, base, measured, peers }: ScenarioResult): string[] {
  const rows: (readonly [string, Measurement | null])[] = [
    ["floor", base],
    ["Switchyard", measured],
    ...peers.map((peer) =>
      [peer.name, peer.kind === "measured" ? peer.measurement : null] as const
    ),
  ];
  return rows.map(([name, measurement]) => {
    const figures = measurement === null
      ? Array.from({ length: 6 }, () => "–")
      : figuresOf(base, measurement);
    return `| ${[`\`${scenario.name}\``, escapeCell(name), ...figures].join(" | ")} |`;
  });
}

function figuresOf(base: Measurement, measurement: Measurement): string[] {
  const { rates, timesUs, cpuUs, busyShare } = measurement;
  return [
    median(rates).toFixed(0),
    rateRatio(base, measurement).toFixed(2),
    (quantile(timesUs, 0.5) / 1000).toFixed(2),
    (quantile(timesUs, 0.99) / 1000).toFixed(2),
    cpuUs === null ? "–" : cpuUs.toFixed(0),
    busyShare === null ? "–" : `${(busyShare * 100).toFixed(0)} %`,
  ];
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
}
