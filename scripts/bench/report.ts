import type { CancelResult } from "./cancel.ts";
import type { Measurement } from "./measure.ts";
import type { PeerResult } from "./peers/run.ts";
import type { Scenario, ScenarioTarget, SystemName } from "./scenarios.ts";
import { type LargeResult, MAX_CREATE_MS, MAX_HEALTH_MS } from "./large.ts";
import { MAX_BYTES_PER_SOCKET, type SocketsResult } from "./sockets.ts";
import { MAX_STORED_BYTES, MAX_STORED_ENTRIES, type StateResult } from "./state.ts";

/** A scenario with the measurements of both systems. */
export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly base: Measurement;
  readonly measured: Measurement;
  readonly peers: readonly PeerResult[];
}

const MIB = 1024 * 1024;

const COLUMN_WIDTHS = [18, 15, 9, 9, 9, 9, 7, 7, 10] as const;

/** The heading of the table. */
export const HEADING = tableRow([
  "scenario",
  "system",
  "rate/s",
  "p50 µs",
  "p99 µs",
  "CPU µs",
  "core",
  "ratio",
  "above µs",
], "target");

/**
 * Returns the table rows of both systems and of the peers. Ratio and added p50 latency compare them
 * to the first.
 */
export function scenarioLines(result: ScenarioResult): string {
  const { scenario, base, measured, peers } = result;
  const ratio = rateRatio(base, measured);
  const addedUs = addedP50Us(base, measured);
  return [
    tableRow([scenario.name, systemLabel(scenario.base), ...measurementCells(base)], ""),
    tableRow(
      [
        "",
        systemLabel(scenario.measured),
        ...measurementCells(measured),
        ratio.toFixed(2),
        addedUs.toFixed(0),
      ],
      targetCells(result),
    ),
    ...peers.map((peer) => peerLine(base, peer)),
  ].join("\n");
}

function peerLine(base: Measurement, peer: PeerResult): string {
  if (peer.kind === "none") return tableRow(["", peer.name, "-"], peer.reason);
  const { name, measurement } = peer;
  const compared = [
    rateRatio(base, measurement).toFixed(2),
    addedP50Us(base, measurement).toFixed(0),
  ];
  return tableRow(["", name, ...measurementCells(measurement), ...compared], "");
}

function addedP50Us(base: Measurement, measured: Measurement): number {
  return quantile(measured.timesUs, 0.5) - quantile(base.timesUs, 0.5);
}

function systemLabel(system: SystemName): string {
  return system === "one" ? "gateway" : system;
}

function measurementCells({ rates, timesUs, cpuUs, busyShare }: Measurement): string[] {
  return [
    median(rates).toFixed(0),
    quantile(timesUs, 0.5).toFixed(0),
    quantile(timesUs, 0.99).toFixed(0),
    cpuUs === null ? "-" : cpuUs.toFixed(0),
    busyShare === null ? "-" : `${(busyShare * 100).toFixed(0)} %`,
  ];
}

function tableRow(cells: readonly string[], last: string): string {
  const padded = COLUMN_WIDTHS.map((width, at) => {
    const cell = cells[at] ?? "";
    return at < 2 ? cell.padEnd(width) : cell.padStart(width);
  });
  return `${padded.join(" ")}  ${last}`.trimEnd();
}

/** Returns the targets of a scenario, each with the value if it is missed. */
function targetCells(result: ScenarioResult): string {
  return result.scenario.targets.map((target) => targetCell(target, result)).join("; ");
}

function targetCell(target: ScenarioTarget, { base, measured, peers }: ScenarioResult): string {
  switch (target.kind) {
    case "min_rate_ratio": {
      const { ratio: alone, besidePeers = alone } = target;
      const ratio = peers.length === 0 ? alone : besidePeers;
      return withMiss(`>= ${ratio.toFixed(2)}`, rateRatio(base, measured) >= ratio);
    }
    case "max_cpu_ratio": {
      const ratio = (measured.cpuUs ?? NaN) / (base.cpuUs ?? NaN);
      return withMiss(
        `CPU ${ratio.toFixed(2)} <= ${target.ratio.toFixed(2)}`,
        ratio <= target.ratio,
      );
    }
    case "max_added_cpu": {
      const added = addedCpuUs(base, measured);
      return withMiss(`CPU +${added.toFixed(0)} <= +${target.us} µs`, added <= target.us);
    }
    case "max_added_latency":
      return withMiss(`<= +${target.us} µs`, addedP50Us(base, measured) <= target.us);
    case "max_p99":
      return withMiss(
        `p99 <= ${target.ms} ms`,
        quantile(measured.timesUs, 0.99) <= target.ms * 1000,
      );
  }
}

function withMiss(text: string, isMet: boolean): string {
  return isMet ? text : `${text} missed`;
}

/** Returns a report line with the median and worst cancellation time of a phase. */
export function cancelLine({ phase, timesMs }: CancelResult): string {
  const worst = timesMs.at(-1) ?? Infinity;
  const missed = worst <= 100 ? "" : " missed";
  const [middle, last] = [quantile(timesMs, 0.5), worst].map((time) => `${time.toFixed(1)} ms`);
  return `cancel ${phase.padEnd(20)} median ${middle}, worst ${last}  <= 100 ms${missed}`;
}

/** Returns a report line with the state that a gateway keeps of many stored responses. */
export function stateLine(
  { phase, created, entries, storedBytes, processBytes }: StateResult,
): string {
  const missed = entries <= MAX_STORED_ENTRIES && storedBytes <= MAX_STORED_BYTES ? "" : " missed";
  const [kept, more] = [storedBytes, processBytes].map((count) =>
    `${(count / MIB).toFixed(1)} MiB`
  );
  return `state  ${`${created} ${phase}`.padEnd(20)} kept ${entries}, ${kept}; process +${more}  ` +
    `<= ${MAX_STORED_ENTRIES}, ${MAX_STORED_BYTES / MIB} MiB${missed}`;
}

/** Returns a report line with what large responses cost others. */
export function largeLine(
  { store, healthMs, createMs, idleHealthMs, idleCreateMs, largeMs }: LargeResult,
): string {
  const missed = healthMs <= MAX_HEALTH_MS && createMs <= MAX_CREATE_MS ? "" : " missed";
  const [health, create, idleHealth, idleCreate, large] = [
    healthMs,
    createMs,
    idleHealthMs,
    idleCreateMs,
    largeMs,
  ].map((ms) => ms.toFixed(0));
  return `large  ${store.padEnd(20)} /health ${health} ms (${idleHealth} without), ` +
    `other create ${create} ms (${idleCreate} without); large create ${large} ms  ` +
    `<= ${MAX_HEALTH_MS}, ${MAX_CREATE_MS} ms${missed}`;
}

/** Returns a report line with the memory of a gateway whose WebSocket clients read slowly. */
export function socketsLine(result: SocketsResult): string {
  const { sockets, turns, answered, bytesBefore, maxBytes, bytesDelivered } = result;
  const each = (maxBytes - bytesBefore) / sockets;
  const [first, largest, all] = [bytesBefore, maxBytes, bytesDelivered]
    .map((count) => `${(count / MIB).toFixed(0)} MiB`);
  const missed = each <= MAX_BYTES_PER_SOCKET && answered === turns ? "" : " missed";
  return `sockets ${sockets} slow readers: ${answered} of ${turns} turns, ${all} read, ` +
    `process ${first} before, ${largest} at most (${(each / MIB).toFixed(2)} MiB a socket)  ` +
    `<= ${MAX_BYTES_PER_SOCKET / MIB} MiB a socket${missed}`;
}

/**
 * Returns the last line: the rate of each scenario relative to the bare proxy, or a dash if it was
 * not run.
 */
export function summaryLine(results: readonly ScenarioResult[]): string {
  const ratios = ["small", "20k", "200k", "sse", "translate"].map((name) => {
    const result = results.find(({ scenario }) => scenario.name === name);
    const ratio = result === undefined ? "-" : rateRatio(result.base, result.measured).toFixed(2);
    return `${name}=${ratio}`;
  });
  return `floor-ratio ${ratios.join(" ")}`;
}

/**
 * Returns the median ratio of rates, compared round by round so that long disturbances affect both
 * systems.
 */
export function rateRatio(base: Measurement, measured: Measurement): number {
  return median(measured.rates.map((rate, round) => rate / (base.rates[round] ?? rate)));
}

/** Returns the processor time of a response above that of the base; NaN where it is not known. */
export function addedCpuUs(base: Measurement, measured: Measurement): number {
  return (measured.cpuUs ?? NaN) - (base.cpuUs ?? NaN);
}

/** Returns the median of the numbers. */
export function median(numbers: readonly number[]): number {
  const ordered = numbers.toSorted((a, b) => a - b);
  const middle = ordered.length / 2;
  const low = ordered[Math.ceil(middle) - 1] ?? 0;
  return (low + (ordered[Math.floor(middle)] ?? low)) / 2;
}

/** Returns the quantile of an ascending list. */
export function quantile(ordered: readonly number[], share: number): number {
  return ordered[Math.min(ordered.length - 1, Math.floor(ordered.length * share))] ?? 0;
}
