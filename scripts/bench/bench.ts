import { parseArgs } from "node:util";
import { measureCancel } from "./cancel.ts";
import { newSystemRun, runInterleaved, type RunLength } from "./measure.ts";
import { newServerProcesses, pinSelf } from "./processes.ts";
import {
  cancelLine,
  HEADING,
  scenarioLines,
  type ScenarioResult,
  soakLine,
  socketsLine,
  stateLine,
  summaryLine,
} from "./report.ts";
import { type Scenario, scenarios } from "./scenarios.ts";
import { measureSoak } from "./soak.ts";
import { measureSockets } from "./sockets.ts";
import { measureStart, startLine } from "./start.ts";
import { measureState } from "./state.ts";
import { LOAD_CORE_INDEX, MEASURED_CORE_INDEX, startSystems, type Systems } from "./systems.ts";

// Compares the gateway with a bare proxy on the same runtime, in one run and on one machine. Only
// the ratios are meaningful.

const USAGE = `deno task bench [--seconds 1] [--rounds 3] [--only NAME]...
  --seconds  seconds that one round of one system takes
  --rounds   number of rounds of each scenario
  --only     run only this scenario or measurement; can be repeated: ${
  scenarios.map(({ name }) => name).join(", ")
}, cancel, state, soak, start, sockets`;

interface Options extends RunLength {
  /** The names of the selected scenarios; empty selects all. */
  readonly only: readonly string[];
}

function parseOptions(args: readonly string[]): Options | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: "string", default: "1" },
      rounds: { type: "string", default: "3" },
      only: { type: "string", multiple: true, default: [] },
    },
  });
  const { only } = values;
  const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)];
  const known = [
    ...scenarios.map(({ name }) => name),
    "cancel",
    "state",
    "soak",
    "start",
    "sockets",
  ];
  const isSound = seconds > 0 && Number.isInteger(rounds) && rounds > 0 &&
    only.every((name) => known.includes(name));
  return isSound ? { seconds, rounds, only } : null;
}

async function runBenchmarks({ only, ...length }: Options): Promise<void> {
  const isSelected = (name: string) => only.length === 0 || only.includes(name);
  const canPin = await pinSelf();
  console.log(
    `Deno ${Deno.version.deno}, ${length.rounds} rounds of ${length.seconds} s, ` +
      (canPin
        ? "measured servers pinned to one core"
        : "servers not pinned to cores: ratios are imprecise"),
  );
  // The folder is removed when all servers have ended.
  const folder = await Deno.makeTempDir();
  await using _folder = {
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
  await using servers = newServerProcesses(canPin);
  const results: ScenarioResult[] = [];
  const selected = scenarios.filter(({ name }) => isSelected(name));
  if (selected.length > 0) {
    const systems = await startSystems(servers, selected, folder);
    console.log(HEADING);
    for (const scenario of selected) {
      const result = await compareSystems(scenario, systems, length);
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
  if (isSelected("start")) {
    for (const result of await measureStart(canPin, MEASURED_CORE_INDEX)) {
      console.log(startLine(result));
    }
  }
  if (isSelected("sockets")) {
    console.log(socketsLine(await measureSockets(servers, MEASURED_CORE_INDEX, LOAD_CORE_INDEX)));
  }
  if (isSelected("soak")) {
    console.log(soakLine(await measureSoak(servers, MEASURED_CORE_INDEX, LOAD_CORE_INDEX)));
  }
  console.log(summaryLine(results));
}

/** Returns the reason if the scenario cannot be measured on this machine. */
async function compareSystems(
  scenario: Scenario,
  systems: Systems,
  length: RunLength,
): Promise<ScenarioResult | string> {
  const { request, measuredRequest } = scenario;
  const [base, measured] = [systems.get(scenario.base), systems.get(scenario.measured)];
  if (base.kind === "missing") return base.reason;
  if (measured.kind === "missing") return measured.reason;
  using baseRun = await newSystemRun(scenario, base.process, request);
  using measuredRun = await newSystemRun(scenario, measured.process, measuredRequest ?? request);
  await runInterleaved([baseRun, measuredRun], length);
  return { scenario, base: baseRun.result(), measured: measuredRun.result() };
}

/**
 * Returns the time limit of a run, in milliseconds: twice the duration of all rounds and five
 * minutes.
 */
function benchTimeoutMs({ seconds, rounds }: RunLength): number {
  return 300_000 + scenarios.length * (rounds + 1) * 2 * seconds * 1000 * 2;
}

const options = parseOptions(Deno.args);
if (options === null) {
  console.error(USAGE);
  Deno.exit(2);
}
const timeLimit = setTimeout(() => {
  console.error("The benchmark did not finish within its time limit and was stopped.");
  Deno.exit(1);
}, benchTimeoutMs(options));
await runBenchmarks(options);
clearTimeout(timeLimit);
