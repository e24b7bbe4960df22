import { join } from "node:path";
import { COSTS_FOLDER, formatCosts } from "./test_costs.ts";
import { writeGroups } from "./test_groups.ts";
import { bundle } from "../packaging/bundle.ts";
import { v8Options } from "../packaging/v8_flags.ts";

/** Counts of Deno's summary line. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

const COUNT = String.raw`(?: \(\d+ steps?\))?`;
const SUMMARY = new RegExp(
  String.raw`^(?:ok|FAILED) \| (\d+) passed${COUNT} \| (\d+) failed${COUNT}(?: \| .*)? \(.*\)$`,
);

/** Parses a line such as `ok | 12 passed (3 steps) | 0 failed (3s)`; null for any other line. */
export function parseCounts(line: string): Counts | null {
  const found = SUMMARY.exec(withoutColours(line));
  return found === null ? null : { passed: Number(found[1]), failed: Number(found[2]) };
}

function withoutColours(line: string): string {
  const [first = "", ...coloured] = line.split("\u001b");
  return first + coloured.map((part) => part.replace(/^\[[\d;]*m/, "")).join("");
}

/** Tests that start the program as a separate process. */
export const PROGRAM_TESTS: readonly string[] = [
  "tests/cli/program_test.ts",
  "tests/cli/drain_program_test.ts",
  "tests/cli/foreign_functions_test.ts",
  "tests/cli/watch_program_test.ts",
  "tests/e2e/executable/",
  "tests/e2e/credential_workers_test.ts",
  "tests/e2e/openid_test.ts",
  "tests/e2e/record_process_test.ts",
  "tests/e2e/required_state_test.ts",
  "tests/e2e/sqlite_process_test.ts",
  "tests/e2e/workers_test.ts",
  "tests/e2e/workers_start_test.ts",
  "tests/e2e/workers_state_test.ts",
  "tests/e2e/workers_slots_test.ts",
];

/**
 * Arguments of the runner. `--binary FILE` names an executable to test in place of the sources;
 * `--costs` prints the dearest files of the whole suite.
 */
export interface TestArguments {
  /** Path of the executable; null if the sources are tested. */
  readonly binary: string | null;
  readonly isMeasured: boolean;
  /** The other arguments. Without a path, an executable has the tests that start the program. */
  readonly given: readonly string[];
}

/** Parses the arguments of the runner; null if the file of `--binary` does not exist. */
export function parseArguments(all: readonly string[]): TestArguments | null {
  const args = all.filter((argument) => argument !== "--costs");
  const isMeasured = args.length < all.length;
  const at = args.indexOf("--binary");
  if (at === -1) return { binary: null, isMeasured, given: args };
  const binary = args[at + 1] ?? "";
  if (!exists(binary)) return null;
  const given = args.toSpliced(at, 2);
  const paths = given.some(exists) ? [] : PROGRAM_TESTS;
  return { binary: Deno.realPathSync(binary), isMeasured, given: [...given, ...paths] };
}

/**
 * Flags of V8 for many short programs: a heap that begins small is collected as it grows, and a
 * small space for young objects often, with the time that each of them lives in it. It may grow as
 * V8 lets it by default, of which an executable has less.
 */
const HEAP_FLAGS = [
  "--heap-growing-percent=0",
  "--initial-old-space-size=400",
  "--initial-heap-size=400",
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
];

/**
 * Returns the arguments of `deno test`: test files run in parallel, and types are not checked,
 * which `deno task ok` does for the whole repository. From 2.9 on leaks are reported only with an
 * option. Where a leak began is shown by `--trace-leaks`, which takes a twentieth of the processor
 * time: give it with the file that leaks.
 */
export function testArguments(version: string, given: readonly string[]): string[] {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const asksForSanitizers = major > 2 || (major === 2 && minor >= 9);
  return [
    "test",
    "-A",
    "--no-check",
    "--parallel",
    ...(asksForSanitizers ? ["--sanitize-ops", "--sanitize-resources"] : []),
    ...v8Options(version, HEAP_FLAGS),
    ...given,
  ];
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Copies of the output without the summary, which is printed at the end. */
interface Sieve {
  push(text: string): string;
  end(): string;
  readonly summary: string | null;
}

/** Copies the output as it arrives, except the last summary line. */
export function summarySieve(): Sieve {
  let line = "";
  let shown = 0;
  let summary: string | null = null;

  function finishLine(): string {
    const whole = line.trimEnd();
    const rest = line.slice(shown);
    const isSummary = shown === 0 && parseCounts(whole) !== null;
    line = "";
    shown = 0;
    if (!isSummary) return rest;
    const earlier = summary === null ? "" : `${summary}\n`;
    summary = whole;
    return earlier;
  }

  return {
    push(text) {
      let out = "";
      for (const part of text.split(/(?<=\n)/)) {
        line += part;
        if (part.endsWith("\n")) {
          out += finishLine();
        } else if (!mayBeSummary(line)) {
          out += line.slice(shown);
          shown = line.length;
        }
      }
      return out;
    },
    end: finishLine,
    get summary() {
      return summary;
    },
  };
}

function mayBeSummary(line: string): boolean {
  return ["ok | ", "FAILED | ", "\u001b"].some((start) =>
    start.startsWith(line.slice(0, start.length))
  );
}

const ROOT = new URL("../../", import.meta.url).pathname;

/**
 * Groups that run at a time beyond one for each processor: those that begin first wait for stores,
 * programs and browsers most of the time.
 */
const SPARE_JOBS_COUNT = 4;

/** A bundle of the program that is being made. */
interface ProgramBundle {
  /** Path of the program; it exists once the whole bundle does. */
  readonly path: string;
  readonly made: Promise<void>;
  remove(): Promise<void>;
}

/**
 * Bundles the program as an executable has it: the whole suite starts it some two hundred times,
 * and from its sources each start takes 0.6 s of processor time instead of 0.25. Tests that begin
 * meanwhile start the sources.
 */
async function bundleProgram(): Promise<ProgramBundle> {
  const folder = await Deno.makeTempDir();
  const unfinished = join(folder, "unfinished"), finished = join(folder, "finished");
  await Deno.mkdir(unfinished);
  const made = bundle(ROOT.replace(/\/$/, ""), unfinished, null, { isUnchecked: true })
    .then(() => Deno.rename(unfinished, finished));
  return {
    path: join(finished, "main.js"),
    made,
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}

async function run(): Promise<number> {
  const wanted = parseArguments(Deno.args);
  if (wanted === null) {
    console.error("--binary needs the path of an executable.");
    return 2;
  }
  const { binary, isMeasured, given } = wanted;
  const groups = given.some(exists) ? null : await Deno.makeTempDir();
  if (groups !== null) await writeGroups(join(ROOT, "tests"), groups, isMeasured);
  const costs = isMeasured ? await Deno.makeTempDir() : null;
  const program = groups === null || binary !== null ? null : await bundleProgram();
  const wholeSuite = groups === null ? [] : ["--config", join(ROOT, "deno.json"), groups];
  const child = new Deno.Command(Deno.execPath(), {
    args: testArguments(Deno.version.deno, [...given, ...wholeSuite]),
    env: {
      ...(Deno.stdout.isTerminal() ? {} : { NO_COLOR: "1" }),
      ...(binary === null ? {} : { SWITCHYARD_BIN: binary }),
      ...(program === null ? {} : { SWITCHYARD_BUNDLE: program.path }),
      ...(costs === null ? {} : { [COSTS_FOLDER]: costs }),
      DENO_JOBS: Deno.env.get("DENO_JOBS") ??
        String(navigator.hardwareConcurrency + SPARE_JOBS_COUNT),
    },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const sieve = summarySieve();
  await Promise.all([
    child.stderr.pipeTo(Deno.stderr.writable, { preventClose: true }),
    copyThrough(child.stdout, sieve),
    program?.made,
  ]);
  const { code } = await child.status;
  if (groups !== null) await Deno.remove(groups, { recursive: true });
  await program?.remove();
  if (costs !== null) {
    console.log(formatCosts(costs));
    await Deno.remove(costs, { recursive: true });
  }
  console.log(lastLines(code, sieve.summary));
  return sieve.summary === null ? code || 1 : code;
}

/**
 * Returns Deno's summary and the plain counts. A file whose test waits for a promise that nothing
 * will settle ends without a result for it and the tests behind it: Deno then prints "ok" with an
 * exit code other than 0, and this counts one failed test.
 */
export function lastLines(code: number, summary: string | null): string {
  const counts = summary === null ? null : parseCounts(summary);
  if (summary === null || counts === null) return "0 passed, 1 failed";
  const { passed, failed } = counts;
  if (code === 0 || failed > 0) return `${summary}\n${passed} passed, ${failed} failed`;
  return [
    "A file ended while one of its tests was waiting: that test and those behind it have no result.",
    withoutColours(summary).replace("ok |", "FAILED |").replace("0 failed", "1 failed"),
    `${passed} passed, 1 failed`,
  ].join("\n");
}

async function copyThrough(source: ReadableStream<Uint8Array<ArrayBuffer>>, sieve: Sieve) {
  const encoder = new TextEncoder();
  for await (const text of source.pipeThrough(new TextDecoderStream())) {
    Deno.stdout.writeSync(encoder.encode(sieve.push(text)));
  }
  Deno.stdout.writeSync(encoder.encode(sieve.end()));
}

if (import.meta.main) Deno.exit(await run());
