import { MEMORY_PARTS, type MemoryParts, readMemoryBytes, readMemoryParts } from "./processes.ts";
import {
  compileEmptyServer,
  findPrograms,
  type Program,
  type ProgramName,
  type Programs,
} from "./programs.ts";

/** Startup times and memory of a program. */
export interface StartResult {
  readonly program: ProgramName;
  /** Milliseconds until the program reports its address, ascending. */
  readonly timesMs: readonly number[];
  /**
   * Bytes of memory after the first response, ascending; empty where the system does not report it.
   */
  readonly memoryBytes: readonly number[];
  /**
   * Bytes of memory after `IDLE_MS` without a request; null where the system does not report it.
   */
  readonly idleBytes: number | null;
  /** The part of it that are pages of files: of the runtime itself. */
  readonly idleFileBytes: number | null;
}

const START_COUNT = 9;

/**
 * Time without a request until the idle memory is read: the runtime frees what the start needed
 * after half of it.
 */
const IDLE_MS = 60_000;

const CONFIG = `
server: {port: 0}
providers: {unused: {type: local, base_url: "http://127.0.0.1:9"}}
routing: {routes: [{name: main, targets: [{provider: unused}]}]}
`;

/** The targets of a program: its time from start to ready, and its idle memory. */
const TARGETS: Readonly<
  Record<ProgramName, { readonly maxStartMs: number | null; readonly maxIdleMB: number }>
> = {
  source: { maxStartMs: null, maxIdleMB: 95 },
  executable: { maxStartMs: 200, maxIdleMB: 80 },
};

/** Idle memory by its parts: of the program, and of an executable server of one line. */
export interface IdleParts {
  readonly program: ProgramName | "empty server";
  readonly parts: MemoryParts;
}

/** Results of the row, with the times of an executable server of one line if it was compiled. */
export interface StartResults {
  readonly starts: readonly StartResult[];
  readonly idle: readonly IdleParts[];
  readonly emptyTimesMs: readonly number[] | null;
}

/** Starts the program from its sources and, if `deno task compile` has built it, the executable. */
export async function measureStart(
  programs: Programs,
  canPin: boolean,
  core: number,
): Promise<StartResults> {
  const found = await findPrograms(canPin, core);
  const results: StartTimes[] = [];
  for (const program of found) results.push(await measureProgram(programs, program));
  const empty = found.length > 1 ? await compileEmptyServer(programs.folder, canPin, core) : null;
  const emptyTimesMs = empty === null ? null : (await measureProgram(programs, empty)).timesMs;
  const all = [...found, ...empty === null ? [] : [empty]];
  const idle = await Promise.all(all.map((program) => measureIdle(programs, program)));
  return {
    starts: results.map((result, at) => ({
      ...result,
      idleBytes: idle[at]?.idleBytes ?? null,
      idleFileBytes: idle[at]?.idleFileBytes ?? null,
    })),
    idle: all.flatMap(({ name }, at) => {
      const parts = idle[at]?.parts ?? null;
      return parts === null ? [] : [{ program: name, parts }];
    }),
    emptyTimesMs,
  };
}

type Idle = Pick<StartResult, "idleBytes" | "idleFileBytes">;
type StartTimes = Omit<StartResult, keyof Idle>;

async function measureProgram<Name extends string>(
  programs: Programs,
  program: Program<Name>,
): Promise<Omit<StartTimes, "program"> & { readonly program: Name }> {
  const runs = [];
  // The first start only fills the caches of Deno and the system.
  await startOnce(programs, program);
  for (let run = 0; run < START_COUNT; run++) runs.push(await startOnce(programs, program));
  return {
    program: program.name,
    timesMs: runs.map(({ time }) => time).toSorted((a, b) => a - b),
    memoryBytes: runs.flatMap(({ memory }) => memory ?? []).toSorted((a, b) => a - b),
  };
}

async function measureIdle(
  programs: Programs,
  program: Program<string>,
): Promise<Idle & { readonly parts: MemoryParts | null }> {
  await using running = await programs.start(program, CONFIG);
  await (await fetch(`${running.url}/health`)).text();
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  return {
    idleBytes: running.memoryBytes(),
    idleFileBytes: readMemoryBytes(running.pid, "RssFile"),
    parts: readMemoryParts(running.pid),
  };
}

async function startOnce(programs: Programs, program: Program<string>) {
  await using running = await programs.start(program, CONFIG);
  await (await fetch(`${running.url}/health`)).text();
  return { time: running.startMs, memory: running.memoryBytes() };
}

function middle(numbers: readonly number[]): number {
  return numbers[Math.floor(numbers.length / 2)] ?? NaN;
}

/** Returns the report line of the startup times of the server of one line. */
export function emptyStartLine(timesMs: readonly number[]): string {
  const [time, worst] = [middle(timesMs), timesMs.at(-1) ?? NaN].map((ms) => ms.toFixed(0));
  return `start  ${"empty server".padEnd(20)} median ${time} ms, worst ${worst} ms`;
}

/**
 * Returns a report line with the median and worst startup time and the memory of a program, and the
 * targets.
 */
export function startLine(
  { program, timesMs, memoryBytes, idleBytes, idleFileBytes }: StartResult,
): string {
  const { maxStartMs, maxIdleMB } = TARGETS[program];
  const worst = timesMs.at(-1) ?? NaN;
  const time = middle(timesMs);
  const isMissed = (idleBytes ?? NaN) > maxIdleMB * 1e6 ||
    (maxStartMs !== null && time > maxStartMs);
  const [first, idle, files] = [
    memoryBytes.length === 0 ? null : middle(memoryBytes),
    idleBytes,
    idleFileBytes,
  ].map((bytes) => bytes === null ? "-" : `${(bytes / 1e6).toFixed(0)} MB`);
  const targets = [...maxStartMs === null ? [] : [`${maxStartMs} ms`], `${maxIdleMB} MB`];
  return `start  ${program.padEnd(20)} median ${time.toFixed(0)} ms, ` +
    `worst ${
      worst.toFixed(0)
    } ms; memory ${first} at first, ${idle} after a minute without requests, ` +
    `${files} of it files  ` +
    `<= ${targets.join(", ")}${isMissed ? " missed" : ""}`;
}

/** Returns the report line of the idle memory by its parts. */
export function idlePartsLine({ program, parts }: IdleParts): string {
  return `start  ${`${program}, idle`.padEnd(20)} ${partsText(parts, 1e6, "MB")}`;
}

/** Returns parts of memory in whole units, with their sum. */
export function partsText(parts: MemoryParts, unitBytes: number, unit: string): string {
  const text = (bytes: number) => `${(bytes / unitBytes).toFixed(0)} ${unit}`;
  const all = MEMORY_PARTS.reduce((sum, part) => sum + parts[part], 0);
  return `${text(all)}: ${MEMORY_PARTS.map((part) => `${text(parts[part])} ${part}`).join(", ")}`;
}
