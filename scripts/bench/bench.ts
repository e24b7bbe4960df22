import { parseArgs } from "node:util";
import { cancel } from "./cancel.ts";
import { configText } from "./configs.ts";
import { interleaved, type Length, openRun } from "./measure.ts";
import { pinSelf, type Processes, processes, type Served } from "./processes.ts";
import {
  cancelLine,
  HEADING,
  lines,
  type Outcome,
  soakLine,
  socketsLine,
  stateLine,
  summary,
} from "./report.ts";
import { type Scenario, scenarios, type SystemName } from "./scenarios.ts";
import { soak } from "./soak.ts";
import { sockets } from "./sockets.ts";
import { start, startLine } from "./start.ts";
import { state } from "./state.ts";

// Compares the gateway with a bare proxy on the same runtime, in one run and on one machine. Only the
// ratios mean something. Servers that are measured have one core; load and upstream have the other.

const MEASURED_CORE = 0, LOAD_CORE = 1;

const USAGE = `deno task bench [--seconds 1] [--rounds 3] [--only NAME]...
  --seconds  length of one round of one system
  --rounds   rounds of each scenario
  --only     run only this scenario: ${
  scenarios.map(({ name }) => name).join(", ")
}, cancel, state, soak, start, sockets`;

interface Options extends Length {
  /** Names of scenarios; empty means all. */
  readonly only: readonly string[];
}

function readOptions(args: readonly string[]): Options | null {
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

async function bench({ only, ...length }: Options): Promise<void> {
  const wanted = (name: string) => only.length === 0 || only.includes(name);
  const canPin = await pinSelf();
  console.log(
    `Deno ${Deno.version.deno}, ${length.rounds} rounds of ${length.seconds} s, ` +
      (canPin ? "one core for what is measured" : "not pinned to cores: ratios are rough"),
  );
  await using servers = processes(canPin);
  const outcomes: Outcome[] = [];
  const chosen = scenarios.filter(({ name }) => wanted(name));
  if (chosen.length > 0) {
    const systems = await startSystems(servers, chosen);
    console.log(HEADING);
    for (const scenario of chosen) {
      const outcome = await compare(scenario, systems, length);
      outcomes.push(outcome);
      console.log(lines(outcome));
    }
  }
  if (wanted("cancel")) {
    for (const phase of await cancel(servers, MEASURED_CORE)) console.log(cancelLine(phase));
  }
  if (wanted("state")) {
    for (const held of await state(servers, MEASURED_CORE, LOAD_CORE)) console.log(stateLine(held));
  }
  if (wanted("start")) {
    for (const one of await start(canPin, MEASURED_CORE)) console.log(startLine(one));
  }
  if (wanted("sockets")) {
    console.log(socketsLine(await sockets(servers, MEASURED_CORE, LOAD_CORE)));
  }
  if (wanted("soak")) console.log(soakLine(await soak(servers, MEASURED_CORE, LOAD_CORE)));
  console.log(summary(outcomes));
}

type Systems = ReadonlyMap<SystemName, Served>;

async function startSystems(servers: Processes, chosen: readonly Scenario[]): Promise<Systems> {
  const { port } = await servers.start("upstream.ts", "", LOAD_CORE);
  const upstream = `http://127.0.0.1:${port}`;
  const systems = new Map<SystemName, Served>();
  for (const name of new Set(chosen.flatMap(({ base, measured }) => [base, measured]))) {
    const [program, argument] = name === "floor"
      ? ["floor.ts", `${upstream}/v1/chat/completions`] as const
      : ["gateway.ts", configText(name, upstream)] as const;
    systems.set(name, await servers.start(program, argument, MEASURED_CORE));
  }
  return systems;
}

async function compare(scenario: Scenario, systems: Systems, length: Length): Promise<Outcome> {
  const { asked, otherwise } = scenario;
  using base = await openRun(scenario, system(systems, scenario.base), asked);
  using measured = await openRun(scenario, system(systems, scenario.measured), otherwise ?? asked);
  await interleaved([base, measured], length);
  return { scenario, base: base.result(), measured: measured.result() };
}

function system(systems: Systems, name: SystemName): Served {
  const served = systems.get(name);
  if (served === undefined) throw new Error(`The system ${name} was not started.`);
  return served;
}

/** Twice the time that all rounds take, and five minutes for everything else. Milliseconds. */
function longest({ seconds, rounds }: Length): number {
  return 300_000 + scenarios.length * (rounds + 1) * 2 * seconds * 1000 * 2;
}

const options = readOptions(Deno.args);
if (options === null) {
  console.error(USAGE);
  Deno.exit(2);
}
const guard = setTimeout(() => {
  console.error("The benchmark hangs; it is given up.");
  Deno.exit(1);
}, longest(options));
await bench(options);
clearTimeout(guard);
