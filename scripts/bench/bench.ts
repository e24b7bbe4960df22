import { parseArgs } from "node:util";
import { measureCancel } from "./cancel.ts";
import { configText } from "./configs.ts";
import { newSystemRun, runInterleaved, type RunLength } from "./measure.ts";
import {
  newServerProcesses,
  pinSelf,
  type ServerProcess,
  type ServerProcesses,
} from "./processes.ts";
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
import { type Scenario, scenarios, type SystemName } from "./scenarios.ts";
import { measureSoak } from "./soak.ts";
import { measureSockets } from "./sockets.ts";
import { measureStart, startLine } from "./start.ts";
import { measureState } from "./state.ts";

// Compares the gateway with a bare proxy on the same runtime, in one run and on one machine. Only
// the ratios are meaningful. Measured servers run on one core; load and upstream run on the other.

const MEASURED_CORE_INDEX = 0, LOAD_CORE_INDEX = 1;

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
  await using servers = newServerProcesses(canPin);
  const results: ScenarioResult[] = [];
  const selected = scenarios.filter(({ name }) => isSelected(name));
  if (selected.length > 0) {
    const systems = await startSystems(servers, selected);
    console.log(HEADING);
    for (const scenario of selected) {
      const result = await compareSystems(scenario, systems, length);
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

type Systems = ReadonlyMap<SystemName, ServerProcess>;

async function startSystems(
  servers: ServerProcesses,
  selected: readonly Scenario[],
): Promise<Systems> {
  const { port } = await servers.start("upstream.ts", "", LOAD_CORE_INDEX);
  const upstream = `http://127.0.0.1:${port}`;
  const systems = new Map<SystemName, ServerProcess>();
  for (const name of new Set(selected.flatMap(({ base, measured }) => [base, measured]))) {
    const [program, argument] = name === "floor"
      ? ["floor.ts", `${upstream}/v1/chat/completions`] as const
      : ["gateway.ts", configText(name, upstream)] as const;
    systems.set(name, await servers.start(program, argument, MEASURED_CORE_INDEX));
  }
  return systems;
}

async function compareSystems(
  scenario: Scenario,
  systems: Systems,
  length: RunLength,
): Promise<ScenarioResult> {
  const { request, measuredRequest } = scenario;
  using base = await newSystemRun(scenario, startedSystem(systems, scenario.base), request);
  using measured = await newSystemRun(
    scenario,
    startedSystem(systems, scenario.measured),
    measuredRequest ?? request,
  );
  await runInterleaved([base, measured], length);
  return { scenario, base: base.result(), measured: measured.result() };
}

function startedSystem(systems: Systems, name: SystemName): ServerProcess {
  const served = systems.get(name);
  if (served === undefined) throw new Error(`The system ${name} was not started.`);
  return served;
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
