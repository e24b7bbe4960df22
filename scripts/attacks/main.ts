import { parseArgs } from "node:util";
import { runUntilInterrupted } from "../tools/interrupt.ts";
import { ATTACKS } from "./attacks.ts";
import { measureAttack, type Measured } from "./measure.ts";

const USAGE = `deno task attacks [ROW...] [--times 1,2,4] [--profile FOLDER]
  ROW        rows that begin with this, such as A2; by default all: ${
  ATTACKS.map(({ row }) => row).join(", ")
}
  --times    multiples of the usual size
  --profile  folder for a processor profile of each gateway`;

function parseOptions() {
  try {
    return parseArgs({
      args: [...Deno.args],
      allowPositionals: true,
      options: {
        times: { type: "string", default: "1,2,4" },
        profile: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
  } catch {
    return null;
  }
}

const options = parseOptions();
if (options === null || options.values.help) {
  console.error(USAGE);
  Deno.exit(options === null ? 2 : 0);
}
const { values, positionals } = options;
const sizes = values.times.split(",").map(Number);
const attacks = positionals.length === 0
  ? ATTACKS
  : ATTACKS.filter(({ row }) => positionals.some((one) => row.startsWith(one)));
if (attacks.length === 0 || !sizes.every((times) => Number.isInteger(times) && times > 0)) {
  console.error(USAGE);
  Deno.exit(2);
}
if (Deno.build.os !== "linux") {
  console.error("The attacks read memory from /proc, which only Linux has.");
  Deno.exit(2);
}

const HEAD = [
  "row",
  "size",
  "/health ms",
  "call ms",
  "loop gap ms",
  "of it processor",
  "idle MiB",
  "peak MiB",
  "after MiB",
  "held after",
  "overloaded",
  "result",
  "outcome",
];

function line(cells: readonly (string | number)[]): string {
  const texts = cells.map((cell) => typeof cell === "number" ? cell.toFixed(0) : cell);
  return `| ${texts.join(" | ")} |`;
}

function cellsOf({ seen, problems, ...measured }: Measured): readonly (string | number)[] {
  const result = problems.length === 0 ? "pass" : `FAIL: ${problems.join("; ")}`;
  const noise = seen.ownGapMs > 50 ? ` (the prober paused ${seen.ownGapMs.toFixed(0)} ms)` : "";
  return [
    seen.healthMs,
    seen.callMs,
    ...measured.gaps,
    measured.idleMib,
    measured.peakMib,
    measured.afterMib,
    measured.heldAfter ?? "?",
    `${seen.overloaded} of ${seen.calls}`,
    result,
    measured.outcome + noise,
  ];
}

let hasPassed = true;
let running = new AsyncDisposableStack();

async function run(): Promise<void> {
  console.log(line(HEAD));
  console.log(line(HEAD.map(() => "---")));
  for (const attack of attacks) {
    for (const times of sizes) {
      running = new AsyncDisposableStack();
      const measured = await measureAttack(attack, times, values.profile ?? null, running);
      await running.disposeAsync();
      hasPassed &&= measured.problems.length === 0;
      console.log(line([attack.row, attack.size(times), ...cellsOf(measured)]));
    }
  }
}

const exitCode = await runUntilInterrupted(run, () => running.disposeAsync());
Deno.exit(exitCode === 0 && !hasPassed ? 1 : exitCode);
