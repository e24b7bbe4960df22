import type { Cancelled } from "./cancel.ts";
import type { Measured } from "./measure.ts";
import type { Scenario, SystemName, Target } from "./scenarios.ts";
import { MOST_GROWTH, type Soaked } from "./soak.ts";
import { MOST_A_SOCKET, type Sockets } from "./sockets.ts";
import { type Held, MOST_BYTES, MOST_ENTRIES } from "./state.ts";

/** A scenario and what both of its systems did. */
export interface Outcome {
  readonly scenario: Scenario;
  readonly base: Measured;
  readonly measured: Measured;
}

const MIB = 1024 * 1024;

const WIDTHS = [15, 15, 9, 9, 9, 9, 7, 10] as const;

/** The line above the rows. */
export const HEADING = row([
  "scenario",
  "system",
  "rate/s",
  "p50 µs",
  "p99 µs",
  "CPU µs",
  "ratio",
  "above µs",
], "target");

/** Both systems of a scenario as lines; ratio and p50 above it are against the first. */
export function lines({ scenario, base, measured }: Outcome): string {
  const ratio = ratioOf(base, measured);
  const above = quantile(measured.times, 0.5) - quantile(base.times, 0.5);
  return [
    row([scenario.name, nameOf(scenario.base), ...numbers(base)], ""),
    row(
      ["", nameOf(scenario.measured), ...numbers(measured), ratio.toFixed(2), above.toFixed(0)],
      targetText(scenario.target, ratio, above),
    ),
  ].join("\n");
}

function nameOf(system: SystemName): string {
  return system === "one" ? "gateway" : system;
}

function numbers({ rates, times, cpu }: Measured): string[] {
  return [
    median(rates).toFixed(0),
    quantile(times, 0.5).toFixed(0),
    quantile(times, 0.99).toFixed(0),
    cpu === null ? "-" : cpu.toFixed(0),
  ];
}

function row(cells: readonly string[], last: string): string {
  const padded = WIDTHS.map((width, at) => {
    const cell = cells[at] ?? "";
    return at < 2 ? cell.padEnd(width) : cell.padStart(width);
  });
  return `${padded.join(" ")}  ${last}`.trimEnd();
}

function targetText(target: Target | null, ratio: number, above: number): string {
  if (target === null) return "";
  const [text, isMet] = "ratio" in target
    ? [`>= ${target.ratio.toFixed(2)}`, ratio >= target.ratio] as const
    : [`<= +${target.above} µs`, above <= target.above] as const;
  return isMet ? text : `${text} missed`;
}

/** Median and worst time of a phase, as a line. */
export function cancelLine({ phase, times }: Cancelled): string {
  const worst = times.at(-1) ?? Infinity;
  const missed = worst <= 100 ? "" : " missed";
  const [middle, last] = [quantile(times, 0.5), worst].map((time) => `${time.toFixed(1)} ms`);
  return `cancel ${phase.padEnd(20)} median ${middle}, worst ${last}  <= 100 ms${missed}`;
}

/** What is kept after many stored responses, as a line. */
export function stateLine({ phase, stored, entries, bytes, memory }: Held): string {
  const missed = entries <= MOST_ENTRIES && bytes <= MOST_BYTES ? "" : " missed";
  const [kept, more] = [bytes, memory].map((count) => `${(count / MIB).toFixed(1)} MiB`);
  return `state  ${`${stored} ${phase}`.padEnd(20)} kept ${entries}, ${kept}; process +${more}  ` +
    `<= ${MOST_ENTRIES}, ${MOST_BYTES / MIB} MiB${missed}`;
}

/** What a long run does to the memory of a gateway, as a line. */
export function soakLine({ requests, early, late, entries }: Soaked): string {
  const growth = late / early - 1;
  const [first, last] = [early, late].map((count) => `${(count / MIB).toFixed(0)} MiB`);
  const kept = Object.entries(entries).map(([store, count]) => `${store} ${count}`).join(", ");
  return `soak   ${requests} requests: ${first} early, ${last} at the end (${
    (growth * 100).toFixed(1)
  } %), kept ${kept}  <= ${MOST_GROWTH * 100} %${growth <= MOST_GROWTH ? "" : " missed"}`;
}

/** What slow readers on many sockets do to the memory of a gateway, as a line. */
export function socketsLine(seen: Sockets): string {
  const { sockets, turns, answered, before, most, delivered } = seen;
  const each = (most - before) / sockets;
  const [first, largest, all] = [before, most, delivered]
    .map((count) => `${(count / MIB).toFixed(0)} MiB`);
  const missed = each <= MOST_A_SOCKET && answered === turns ? "" : " missed";
  return `sockets ${sockets} slow readers: ${answered} of ${turns} turns, ${all} read, ` +
    `process ${first} before, ${largest} at most (${(each / MIB).toFixed(2)} MiB a socket)  ` +
    `<= ${MOST_A_SOCKET / MIB} MiB a socket${missed}`;
}

/** The last line: rates against the floor. A scenario that was not run has a dash. */
export function summary(outcomes: readonly Outcome[]): string {
  const ratios = ["small", "20k", "200k", "sse", "translate"].map((name) => {
    const outcome = outcomes.find(({ scenario }) => scenario.name === name);
    const ratio = outcome === undefined ? "-" : ratioOf(outcome.base, outcome.measured).toFixed(2);
    return `${name}=${ratio}`;
  });
  return `floor-ratio ${ratios.join(" ")}`;
}

/** Rates are compared round by round: what disturbs the machine for long disturbs both. */
function ratioOf(base: Measured, measured: Measured): number {
  return median(measured.rates.map((rate, round) => rate / (base.rates[round] ?? rate)));
}

function median(numbers: readonly number[]): number {
  const ordered = numbers.toSorted((a, b) => a - b);
  const middle = ordered.length / 2;
  const low = ordered[Math.ceil(middle) - 1] ?? 0;
  return (low + (ordered[Math.floor(middle)] ?? low)) / 2;
}

/** `ordered` is ascending. */
function quantile(ordered: readonly number[], share: number): number {
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))] ?? 0;
}
