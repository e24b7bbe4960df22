import { compile, hostName, realTools, TARGETS } from "../packaging/compile.ts";
import { PERMISSIONS } from "../packaging/permissions.ts";
import { linesOf } from "../soak/gateway_process.ts";
import { endAtOnce } from "../tools/interrupt.ts";
import { readMemoryBytes, rowV8Options } from "./processes.ts";

/** Two forms of the program: its sources, and the executable of `deno task compile`. */
export type ProgramName = "source" | "executable";

/** A form of the program with the command that starts it. */
export interface Program<Name extends string = ProgramName> {
  readonly name: Name;
  readonly command: readonly string[];
}

/** A program that listens. Disposing it ends it. */
export interface RunningProgram extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Milliseconds until the program reported its address. */
  readonly startMs: number;
  /** Returns the resident memory in bytes; null where the system does not report it. */
  memoryBytes(): number | null;
}

const ROOT = new URL("../../", import.meta.url).pathname;

/** Returns the sources and, if `deno task compile` has built it, the executable. */
export async function findPrograms(canPin: boolean, core: number): Promise<Program[]> {
  const pinned = pinnedTo(canPin, core);
  const options = [...PERMISSIONS, ...rowV8Options()];
  const source = [...pinned, Deno.execPath(), "run", ...options, `${ROOT}main.ts`];
  const executable = `${ROOT}dist/bin/switchyard-${hostName(Deno.build)}`;
  const found: Program[] = [{ name: "source", command: source }];
  try {
    await Deno.stat(executable);
  } catch {
    return found;
  }
  return [...found, { name: "executable", command: [...pinned, executable] }];
}

/** Returns the words before a command that keep its process on a core. */
function pinnedTo(canPin: boolean, core: number): readonly string[] {
  return canPin ? ["taskset", "-c", String(core)] : [];
}

/**
 * Compiles a server of one line, which shows what an executable of the runtime needs without a
 * gateway. Returns null if the machine has no runtime to build on.
 */
export async function compileEmptyServer(
  folder: string,
  canPin: boolean,
  core: number,
): Promise<Program<"empty server"> | null> {
  const target = hostName(Deno.build);
  const place = `${folder}/empty`;
  await Deno.mkdir(place);
  await Deno.writeTextFile(`${place}/main.js`, EMPTY_SERVER);
  const build = { target: target as keyof typeof TARGETS, output: `${place}/server`, hasFfi: true };
  const problem = await compile(
    { ...build, runtimePath: Deno.env.get("DENORT_BIN") ?? "", files: ["main.js"] },
    realTools(place),
  );
  return problem === null
    ? { name: "empty server", command: [...pinnedTo(canPin, core), build.output] }
    : null;
}

const EMPTY_SERVER = `Deno.serve({
  port: 0,
  hostname: "127.0.0.1",
  onListen: ({ port }) => console.log("listens on http://127.0.0.1:" + port),
}, () => new Response());`;

/** Starts programs. Disposing it ends those that still run. */
export interface Programs extends AsyncDisposable {
  /** A folder for files of programs. */
  readonly folder: string;
  /**
   * Starts a program with a configuration and waits until it listens. `onLine` gets the lines of
   * its stderr.
   */
  start(
    program: Program<string>,
    config: string,
    onLine?: (line: string) => void,
  ): Promise<RunningProgram>;
}

/** Returns a starter of programs, whose configurations are in `folder`. */
export function newPrograms(folder: string): Programs {
  const children = new Set<Deno.ChildProcess>();
  let count = 0;
  let isOver = false;

  async function start(
    { command: [first = "", ...rest] }: Program<string>,
    config: string,
    onLine?: (line: string) => void,
  ): Promise<RunningProgram> {
    const path = `${folder}/program-${++count}.yaml`;
    await Deno.writeTextFile(path, config);
    if (isOver) throw new Error("The benchmark is over.");
    const began = performance.now();
    const child = new Deno.Command(first, {
      args: [...rest, "--config", path],
      stdout: "piped",
      stderr: onLine === undefined ? "null" : "piped",
    }).spawn();
    children.add(child);
    if (onLine !== undefined) void passLines(child.stderr, onLine);
    const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const url = await readUrl(output);
    const startMs = performance.now() - began;
    return {
      url,
      pid: child.pid,
      startMs,
      memoryBytes: () => readMemoryBytes(child.pid),
      async [Symbol.asyncDispose]() {
        child.kill("SIGTERM");
        while (!(await output.read()).done);
        await child.status;
        children.delete(child);
      },
    };
  }

  async function end() {
    isOver = true;
    for (const child of children) await endAtOnce(child);
  }

  return { folder, start, [Symbol.asyncDispose]: end };
}

async function passLines(
  stderr: ReadableStream<Uint8Array<ArrayBuffer>>,
  onLine: (line: string) => void,
): Promise<void> {
  for await (const line of linesOf(stderr)) onLine(line);
}

async function readUrl(output: ReadableStreamDefaultReader<string>): Promise<string> {
  for (let text = "";;) {
    const { done, value } = await output.read();
    if (done) throw new Error(`The program did not start: ${text}`);
    text += value;
    const [, url = ""] = /listens on (\S+)\s/.exec(text) ?? [];
    if (url !== "") return url;
  }
}
