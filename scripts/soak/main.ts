import { parseArgs } from "node:util";
import { writeFigures } from "./page.ts";
import { runSoak } from "./soak.ts";
import { STORES } from "./store.ts";
import { runUntilInterrupted } from "../tools/interrupt.ts";

const USAGE = `deno task soak [--minutes 2] [--rate 20] [--store memory] [--workers 1] [--docs]
  --minutes  minutes of load
  --rate     uses of the gateway that begin in each second; one use has up to 22 requests
  --store    the state store: memory, sqlite or valkey
  --workers  processes of the gateway; several need valkey
  --docs     write the figures into docs/operate/soak.md, if the soak passes`;

const { values } = parseArgs({
  args: [...Deno.args],
  options: {
    minutes: { type: "string", default: "2" },
    rate: { type: "string", default: "20" },
    store: { type: "string", default: "memory" },
    workers: { type: "string", default: "1" },
    docs: { type: "boolean", default: false },
  },
});
const [minutes, rate] = [Number(values.minutes), Number(values.rate)];
const workers = Number(values.workers);
const store = STORES.find((name) => name === values.store);
if (!(minutes > 0 && rate > 0 && Number.isInteger(workers)) || store === undefined) {
  console.error(USAGE);
  Deno.exit(2);
}
if (Deno.build.os !== "linux") {
  console.error("The soak reads descriptors from /proc, which only Linux has.");
  Deno.exit(2);
}
const figures: string[] = [];
const started = new AsyncDisposableStack();
let hasPassed = false;

const soak = async (): Promise<void> => {
  const print = (line: string) => {
    figures.push(line);
    console.log(line);
  };
  const problems = await runSoak({ minutes, rate, store, workers, print }, started);
  if (values.docs && problems.length === 0) await writeFigures(store, figures);
  hasPassed = problems.length === 0;
};

const exitCode = await runUntilInterrupted(soak, () => started.disposeAsync());
Deno.exit(exitCode === 0 && !hasPassed ? 1 : exitCode);
