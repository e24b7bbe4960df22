import { allocationLines, measureAllocations, measureHeld } from "./allocations.ts";
import { measureCancel } from "./cancel.ts";
import { measureGrowth } from "./growth.ts";
import { runUntilInterrupted } from "../tools/interrupt.ts";
import { newSystemRun, runInterleaved, WARM_UP_S } from "./measure.ts";
import { type BenchOptions, parseOptions, USAGE } from "./options.ts";
import { findPeerTask } from "./peers/peer.ts";
import { newPeerRun } from "./peers/run.ts";
import { newPeerSystems, type PeerSystems } from "./peers/systems.ts";
import { readRunFacts, writePeerTable } from "./peers/write.ts";
import { newServerProcesses, pinSelf, type ServerProcesses } from "./processes.ts";
import { printProfiles } from "./profile.ts";
import { newPrograms, type Programs } from "./programs.ts";
import {
  cancelLine,
  HEADING,
  largeLine,
  scenarioLines,
  type ScenarioResult,
  socketsLine,
  stateLine,
  summaryLine,
} from "./report.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { measureSockets } from "./sockets.ts";
import { emptyStartLine, idlePartsLine, measureStart, startLine } from "./start.ts";
import { measureLarge } from "./large.ts";
import { measureMixed, mixedLine, QUIET_S } from "./mixed.ts";
import { measurePieces, piecesLine } from "./pieces.ts";
import { measureRates, ratesLine } from "./rates.ts";
import { measureState } from "./state.ts";
import {
  measureStreams,
  measureStreamsInUse,
  streamsInUseLine,
  streamsLine,
  streamsPartsLine,
} from "./streams.ts";
import { slowCallsLine, type TimedCall } from "./slow_calls.ts";
import { measureTail, tailLines } from "./tail.ts";
import { measureUploads, uploadsLine } from "./uploads.ts";
import { measureWorkers, workersLine } from "./workers.ts";
import { LOAD_CORE_INDEX, MEASURED_CORE_INDEX, startSystems, type Systems } from "./systems.ts";

// Compares the gateway with a bare proxy on the same runtime, in one run and on one machine. Only
// the ratios are meaningful.

/** Where a run has its files, and what starts and ends its processes. */
interface Place {
  readonly folder: string;
  readonly canPin: boolean;
  readonly servers: ServerProcesses;
  readonly programs: Programs;
}

async function runBenchmarks(
  options: BenchOptions,
  { folder, canPin, servers, programs }: Place,
): Promise<void> {
  const { only, rounds, seconds } = options;
  const facts = await readRunFacts(options);
  const isSelected = (name: string) => only.length === 0 || only.includes(name);
  console.log(
    `Deno ${Deno.version.deno}, ${rounds} rounds of ${seconds} s, ` +
      (canPin
        ? "measured servers pinned to one core"
        : "servers not pinned to cores: ratios are imprecise"),
  );
  const results: ScenarioResult[] = [];
  const selected = scenarios.filter(({ name }) => isSelected(name));
  if (selected.length > 0) {
    const systems = await startSystems(servers, selected, folder);
    const peerSystems = newPeerSystems(servers, systems.upstream, folder);
    console.log(HEADING);
    for (const scenario of selected) {
      const result = await compareSystems(scenario, systems, peerSystems, options);
      if (typeof result === "string") {
        console.log(`${scenario.name} was skipped: ${result}`);
        continue;
      }
      results.push(result);
      console.log(scenarioLines(result));
    }
  }
  if (isSelected("cancel")) {
    for (const phase of await measureCancel(servers, MEASURED_CORE_INDEX)) {
      console.log(cancelLine(phase));
    }
  }
  if (isSelected("state")) {
    for (const result of await measureState(servers, MEASURED_CORE_INDEX, LOAD_CORE_INDEX)) {
      console.log(stateLine(result));
    }
  }
  if (isSelected("large")) {
    for (const result of await measureLarge(servers, folder)) console.log(largeLine(result));
  }
  if (isSelected("start")) {
    const { starts, idle, emptyTimesMs } = await measureStart(
      programs,
      canPin,
      MEASURED_CORE_INDEX,
    );
    for (const result of starts) console.log(startLine(result));
    if (emptyTimesMs !== null) console.log(emptyStartLine(emptyTimesMs));
    for (const one of idle) console.log(idlePartsLine(one));
  }
  const cores = { core: MEASURED_CORE_INDEX, upstreamCore: LOAD_CORE_INDEX };
  if (isSelected("tail")) {
    const result = await measureTail(servers, cores);
    console.log(tailLines(result));
    timedCalls = result.gateway.calls;
  }
  if (isSelected("rates")) console.log(ratesLine(await measureRates(servers, cores)));
  if (isSelected("pieces")) {
    for (const result of await measurePieces(servers, cores)) console.log(piecesLine(result));
  }
  if (isSelected("mixed")) {
    const place = { minutes: options.minutes, canPin, ...cores };
    for (const result of await measureMixed(servers, programs, place)) {
      console.log(mixedLine(result));
    }
  }
  if (isSelected("streams")) {
    for (const result of await measureStreams(servers, programs, { canPin, ...cores })) {
      console.log(streamsLine(result));
      if (result.grown !== null) console.log(streamsPartsLine(result.program, result.grown));
    }
    const inUse = await measureStreamsInUse(servers, programs, LOAD_CORE_INDEX);
    if (inUse !== null) console.log(streamsInUseLine(inUse));
  }
  if (isSelected("sockets")) {
    console.log(socketsLine(await measureSockets(servers, MEASURED_CORE_INDEX, LOAD_CORE_INDEX)));
  }
  if (isSelected("workers")) {
    const result = await measureWorkers(servers, programs, options, {
      canPin,
      upstreamCore: LOAD_CORE_INDEX,
    });
    console.log(workersLine(result));
  }
  if (isSelected("uploads")) {
    for (const result of await measureUploads(programs, { canPin, core: MEASURED_CORE_INDEX })) {
      console.log(uploadsLine(result));
    }
  }
  if (isSelected("growth")) await measureGrowth();
  if (isSelected("allocations")) {
    for (const result of await measureAllocations(servers, cores)) {
      console.log(allocationLines(result));
    }
    console.log(allocationLines(await measureHeld(servers, cores)));
  }
  if (options.write) await writePeerTable(results, facts);
  console.log(summaryLine(results));
}

/** Returns the reason if the scenario cannot be measured on this machine. */
async function compareSystems(
  scenario: Scenario,
  systems: Systems,
  peerSystems: PeerSystems,
  options: BenchOptions,
): Promise<ScenarioResult | string> {
  const { request, measuredRequest } = scenario;
  const [base, measured] = [systems.get(scenario.base), systems.get(scenario.measured)];
  if (base.kind === "missing") return base.reason;
  if (measured.kind === "missing") return measured.reason;
  const baseRun = await newSystemRun(scenario, base.process, request);
  const measuredRun = await newSystemRun(scenario, measured.process, measuredRequest ?? request);
  const place = { systems: peerSystems, upstream: systems.upstream };
  const peerRuns = await Promise.all(
    (findPeerTask(scenario) === null ? [] : options.peers)
      .map((peer) => newPeerRun(scenario, peer, place)),
  );
  await runInterleaved([baseRun, measuredRun, ...peerRuns], options);
  return {
    scenario,
    base: baseRun.result(),
    measured: measuredRun.result(),
    peers: peerRuns.map((run) => run.result()),
  };
}

/**
 * Returns the time limit of a run, in milliseconds: twice the duration of all rounds, with the
 * warm-up of each system, the minutes of the row `mixed` with those behind its load, and five
 * minutes.
 */
function benchTimeoutMs({ seconds, rounds, minutes, peers }: BenchOptions): number {
  const systems = 2 + peers.length;
  return 300_000 + minutes * 60_000 + QUIET_S * 1_000 +
    scenarios.length * systems * (WARM_UP_S + rounds * seconds) * 1000 * 2;
}

const options = parseOptions(Deno.args, readText);
if (typeof options === "string") {
  console.error(`${options}\n\n${USAGE}`);
  Deno.exit(2);
}
const canPin = await pinSelf();
/** Calls of the row `tail` to the gateway, for what its profile has of them. */
let timedCalls: readonly TimedCall[] = [];
const folder = await Deno.makeTempDir();
// The folder is removed when all processes have ended.
const started = new AsyncDisposableStack();
started.defer(() => Deno.remove(folder, { recursive: true }));
const servers = started.use(newServerProcesses(canPin, options.profileFolder));
const programs = started.use(newPrograms(folder));
const began = Date.now();
const exitCode = await runUntilInterrupted(
  () => runBenchmarks(options, { folder, canPin, servers, programs }),
  () => started.disposeAsync(),
  benchTimeoutMs(options),
);
if (options.profileFolder !== null) {
  await printProfiles(
    options.profileFolder,
    began,
    (name, profile) => timedCalls.length === 0 ? null : slowCallsLine(name, profile, timedCalls),
  );
}
Deno.exit(exitCode);

function readText(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
}
