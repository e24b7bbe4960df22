import { hostName } from "../packaging/compile.ts";
import { PERMISSIONS } from "../packaging/permissions.ts";

/** Startup times and idle memory of a program. */
export interface StartResult {
  readonly program: "source" | "executable";
  /** Milliseconds until the program reports its address, ascending. */
  readonly timesMs: readonly number[];
  /**
   * Bytes of memory after the first response, ascending; empty where the system does not report it.
   */
  readonly memoryBytes: readonly number[];
}

const START_COUNT = 9;

const CONFIG = `
server: {port: 0}
providers: {unused: {type: local, base_url: "http://127.0.0.1:9"}}
routing: {routes: [{name: main, targets: [{provider: unused}]}]}
`;

const ROOT = new URL("../../", import.meta.url).pathname;

/** Starts the program from its sources and, if `deno task compile` has built it, the executable. */
export async function measureStart(canPin: boolean, core: number): Promise<StartResult[]> {
  const source = [Deno.execPath(), "run", ...PERMISSIONS, `${ROOT}main.ts`];
  const executable = `${ROOT}dist/bin/switchyard-${hostName(Deno.build)}`;
  const found: StartResult[] = [
    await measureProgram("source", pinnedCommand(source, canPin, core)),
  ];
  try {
    await Deno.stat(executable);
  } catch {
    return found;
  }
  return [...found, await measureProgram("executable", pinnedCommand([executable], canPin, core))];
}

function pinnedCommand(
  command: readonly string[],
  canPin: boolean,
  core: number,
): readonly string[] {
  return canPin ? ["taskset", "-c", String(core), ...command] : command;
}

async function measureProgram(
  program: StartResult["program"],
  command: readonly string[],
): Promise<StartResult> {
  const path = await Deno.makeTempFile({ suffix: ".yaml" });
  const runs = [];
  try {
    await Deno.writeTextFile(path, CONFIG);
    // The first start only fills the caches of Deno and the system.
    await startOnce(command, path);
    for (let run = 0; run < START_COUNT; run++) runs.push(await startOnce(command, path));
  } finally {
    await Deno.remove(path);
  }
  return {
    program,
    timesMs: runs.map(({ time }) => time).toSorted((a, b) => a - b),
    memoryBytes: runs.flatMap(({ memory }) => memory ?? []).toSorted((a, b) => a - b),
  };
}

async function startOnce(command: readonly string[], config: string) {
  const [first = "", ...rest] = command;
  const began = performance.now();
  const child = new Deno.Command(first, {
    args: [...rest, "--config", config],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let stdout = "";
  let time = NaN;
  let memory: number | null = null;
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    stdout += text;
    const [, url = ""] = /listens on (\S+)\s/.exec(stdout) ?? [];
    if (url === "" || !Number.isNaN(time)) continue;
    time = performance.now() - began;
    await (await fetch(`${url}/health`)).text();
    memory = readMemoryBytes(child.pid);
    child.kill("SIGTERM");
  }
  await child.status;
  if (Number.isNaN(time)) throw new Error(`The program did not start: ${stdout}`);
  return { time, memory };
}

function readMemoryBytes(pid: number): number | null {
  if (Deno.build.os !== "linux") return null;
  const [, kilobytes = ""] = /^VmRSS:\s+(\d+) kB$/m
    .exec(Deno.readTextFileSync(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes) * 1024;
}

/**
 * Returns a report line with the median and worst startup time and the idle memory of a program.
 */
export function startLine({ program, timesMs, memoryBytes }: StartResult): string {
  const middle = (numbers: readonly number[]) => numbers[Math.floor(numbers.length / 2)] ?? NaN;
  const worst = timesMs.at(-1) ?? NaN;
  const held = memoryBytes.length === 0
    ? "-"
    : `${(middle(memoryBytes) / 1024 / 1024).toFixed(0)} MiB`;
  return `start  ${program.padEnd(20)} median ${middle(timesMs).toFixed(0)} ms, ` +
    `worst ${worst.toFixed(0)} ms; idle memory ${held}`;
}
