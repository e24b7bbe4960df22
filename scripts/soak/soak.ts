import { newSoakClient } from "./client.ts";
import { BROKEN_CONFIG, configText, type Setting } from "./config.ts";
import { fillMemory } from "./fill.ts";
import { newGate } from "./gate.ts";
import { type GatewayProcess, type Holdings, startGateway } from "./gateway_process.ts";
import { type LoadResult, problemOf, runLoad, USES } from "./load.ts";
import type { MemorySample } from "./memory.ts";
import { readGauges } from "./metrics.ts";
import { openSoakStore, type StoreName } from "./store.ts";
import { type RecordingUpstream, serveUpstream } from "./upstream.ts";
import { outageUse } from "./uses/outages.ts";
import type { Use } from "./uses/use.ts";
import { reportLines, type SoakRun, verdict } from "./verdict.ts";

/** Time between two reloads, in milliseconds. */
const RELOAD_INTERVAL_MS = 10_000;

/** Every reload of this number is one of a broken configuration. */
const RELOADS_UNTIL_BROKEN_COUNT = 6;

/** Of this number of looks at the gateway, the store is unavailable before the second one. */
const LOOKS_UNTIL_OUTAGE_COUNT = 4;

/** Longer than a machine that does much else lets a provider wait. */
const BREAK_TIMEOUT_MS = 5_000;

/** Number of the first use of an unavailable store, far above those of the load. */
const MIN_OUTAGE_NUMBER = 1_000_000_000;

/** Time in milliseconds for connections to be closed and for timers to end after the load. */
const QUIET_TIMEOUT_MS = 60_000;

/** Number of looks in a row, one in each second, at which an idle gateway holds the same. */
const STEADY_LOOKS_COUNT = 10;

/** Options of a soak. */
export interface SoakOptions {
  readonly minutes: number;
  readonly rate: number;
  readonly store: StoreName;
  readonly workers: number;
  print(line: string): void;
}

/**
 * Runs the soak and prints its report. Returns the problems; none if it has passed. `started` ends
 * what it has started and removes its files.
 */
export async function runSoak(
  { minutes, rate, store, workers, print }: SoakOptions,
  started: AsyncDisposableStack,
): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir();
  started.defer(() => Deno.remove(folder, { recursive: true }));
  const upstream = started.use(serveUpstream());
  const { settings, outages } = await openSoakStore(store, folder, started);
  const setting = {
    upstream: upstream.url,
    workers,
    state: settings,
    breakTimeoutMs: BREAK_TIMEOUT_MS,
  };
  const gateway = await startGateway(setting, folder, started);
  const systems = { gateway, upstream, setting, outages: outages.map(outageUse) };
  const processes = workers === 1 ? "one process" : `${workers} workers`;
  print(
    `Soak of ${minutes} minutes over ${store}, ${processes}, ${rate} uses in a second, ` +
      `${USES.length + outages.length} kinds of use, Deno ${Deno.version.deno}`,
  );
  let run: SoakRun;
  let exitCode: number;
  try {
    run = await measure(systems, { minutes, rate, print });
  } finally {
    exitCode = await gateway.stop();
  }
  const problems = [
    ...verdict(run),
    ...exitCode === 0 ? [] : [`the gateway ended with exit code ${exitCode}`],
  ];
  for (const line of reportLines(run)) print(line);
  for (const problem of problems) print(`FAILED: ${problem}`);
  print(problems.length === 0 ? "soak passed" : `soak failed: ${problems.length} problems`);
  return problems;
}

interface Systems {
  readonly gateway: GatewayProcess;
  readonly upstream: RecordingUpstream;
  readonly setting: Setting;
  /** The uses of a store that is unavailable; each one runs alone. */
  readonly outages: readonly Use[];
}

async function measure(
  systems: Systems,
  { minutes, rate, print }: Pick<SoakOptions, "minutes" | "rate" | "print">,
): Promise<SoakRun> {
  const { gateway, setting, outages } = systems;
  // A first round fills the pools, catalogs and compiled code that stay.
  let begun = 0;
  const warm = await runLoad({
    ...load(systems),
    rate,
    print,
    from: 0,
    mayBegin: () => begun++ < USES.length,
  });
  // A store in memory has the objects themselves, and remembers nothing.
  if (setting.state.store !== "memory") await fillMemory(gateway.url, systems.upstream);
  await gateway.reload(configText(setting, 1));
  const before = await quiet(gateway, null);
  const began = performance.now();
  const isOver = () => performance.now() - began > minutes * 60_000;
  const samples: MemorySample[] = [];
  const code: MemorySample[] = [];
  const resident: MemorySample[] = [];
  const done = Promise.withResolvers<void>();
  const gate = newGate();
  let reloads = 0;
  let broken = 0;
  let outage = 0;
  const outageCounts = new Map<string, number>();
  const outageProblems: string[] = [];

  async function useWithoutStore(): Promise<void> {
    const use = outages[outage % outages.length];
    if (use === undefined) return;
    using http = Deno.createHttpClient({});
    const numbers = { number: MIN_OUTAGE_NUMBER + outage, turn: outage };
    const client = newSoakClient(numbers, gateway.url, http, systems.upstream);
    outage++;
    const problem = await gate.whileEmpty(() => problemOf(use, client));
    outageCounts.set(use.name, (outageCounts.get(use.name) ?? 0) + 1);
    if (problem === null) return;
    outageProblems.push(problem);
    print(`${new Date().toISOString()} ${problem}`);
  }

  async function reloadAndLook(): Promise<void> {
    while (!await endsWithin(done.promise, RELOAD_INTERVAL_MS)) {
      reloads++;
      const isBroken = reloads % RELOADS_UNTIL_BROKEN_COUNT === 0;
      if (isBroken) broken++;
      await gateway.reload(isBroken ? BROKEN_CONFIG : configText(setting, reloads + 1));
      if (reloads % LOOKS_UNTIL_OUTAGE_COUNT === 2) await useWithoutStore();
      const { liveBytes, codeBytes, residentBytes } = await gate.whileEmpty(gateway.holdings);
      const hours = (performance.now() - began) / 3_600_000;
      samples.push({ hours, bytes: liveBytes });
      code.push({ hours, bytes: codeBytes });
      resident.push({ hours, bytes: residentBytes });
    }
  }

  const looking = reloadAndLook();
  const loaded = await runLoad({
    ...load(systems),
    rate,
    print,
    gate,
    from: USES.length,
    mayBegin: () => !isOver(),
  });
  const loadedMs = performance.now() - began;
  done.resolve();
  await looking;
  // Back to the configuration of the first measurement, so that both hold the same objects.
  await gateway.reload(configText(setting, 1));
  const after = await quiet(gateway, before);
  return {
    minutes: loadedMs / 60_000,
    load: joined(joined(warm, loaded), { counts: outageCounts, problems: outageProblems }),
    kinds: [...USES, ...outages].map(({ name }) => name),
    // Those before and behind the load, too.
    requestedReloads: { whole: reloads - broken + 2, broken },
    before,
    after,
    gauges: await readGauges(gateway.url),
    live: samples,
    code,
    resident,
    complaints: gateway.complaints,
  };
}

function load({ gateway, upstream }: Pick<Systems, "gateway" | "upstream">) {
  return { url: gateway.url, upstream, uses: USES };
}

function joined(one: LoadResult, other: LoadResult): LoadResult {
  const counts = new Map(one.counts);
  for (const [name, count] of other.counts) counts.set(name, (counts.get(name) ?? 0) + count);
  return { counts, problems: [...one.problems, ...other.problems] };
}

/** True if the promise resolves within this time, in milliseconds. */
async function endsWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(false), ms));
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Waits until the gateway holds as little as before, or, without an earlier look, until it holds
 * the same for `STEADY_LOOKS_COUNT` looks. Returns the last look in any case.
 */
async function quiet(gateway: GatewayProcess, before: Holdings | null): Promise<Holdings> {
  const end = performance.now() + QUIET_TIMEOUT_MS;
  let steady = 0;
  let last = await gateway.holdings();
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const next = await gateway.holdings();
    steady = isNoMore(next, last) && isNoMore(last, next) ? steady + 1 : 0;
    last = next;
    if (before !== null && isNoMore(next, before)) break;
    if (before === null && steady >= STEADY_LOOKS_COUNT) break;
  }
  return last;
}

function isNoMore(one: Holdings, other: Holdings): boolean {
  return one.descriptors <= other.descriptors && one.sockets <= other.sockets &&
    one.timers <= other.timers && one.tasks <= other.tasks;
}
