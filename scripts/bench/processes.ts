import { v8Options } from "../packaging/v8_flags.ts";

/** A server process of the benchmark. */
export interface ServerProcess {
  readonly port: number;
  /**
   * Returns the processor time of the process in milliseconds; null where the system does not
   * report it.
   */
  cpuMs(): number | null;
}

/** A server process of one program of the benchmark. */
export interface LocalServer extends ServerProcess {
  readonly pid: number;
  /** Returns the resident memory in bytes; null where the system does not report it. */
  memoryBytes(): number | null;
}

/**
 * Returns the options of Deno with which the rows run a program from its sources: with further
 * flags of V8 from the environment, of which the last of two wins. An executable takes none.
 */
export function rowV8Options(): readonly string[] {
  const further = (Deno.env.get("BENCH_V8_FLAGS") ?? "").split(",").filter((flag) => flag !== "");
  return v8Options(Deno.version.deno, further);
}

/** Starts the servers of the benchmark. Disposing it ends them all. */
export interface ServerProcesses extends AsyncDisposable {
  /** Starts a program of the benchmark, with these options of the runtime besides the usual. */
  start(
    program: string,
    argument: string,
    core: number,
    options?: readonly string[],
  ): Promise<LocalServer>;
  /** Starts a program of this machine and waits until it listens at `port`. */
  startInstalled(
    path: string,
    args: readonly string[],
    port: number,
    core: number,
    settings?: InstalledSettings,
  ): Promise<ServerProcess>;
}

/** Settings of a program of this machine. */
export interface InstalledSettings {
  readonly environment: Readonly<Record<string, string>>;
  /** The file that receives its output. */
  readonly logPath: string;
  readonly listenTimeoutMs: number;
}

/** Linux reports processor time in units of a hundredth of a second. */
const CPU_TICK_MS = 10;

/**
 * Returns a starter of server processes, each pinned to a core if `taskset` exists. Each gateway
 * writes its processor profile into `profileFolder` when it ends; null for none.
 */
export function newServerProcesses(
  canPin: boolean,
  profileFolder: string | null,
): ServerProcesses {
  const children: Deno.ChildProcess[] = [];

  function spawn(
    path: string,
    args: readonly string[],
    core: number,
    options: Pick<Deno.CommandOptions, "env" | "stdout">,
  ): Deno.ChildProcess {
    const command = canPin
      ? new Deno.Command("taskset", {
        args: ["-c", String(core), path, ...args],
        stdin: "piped",
        ...options,
      })
      : new Deno.Command(path, { args: [...args], stdin: "piped", ...options });
    const child = command.spawn();
    children.push(child);
    return child;
  }

  async function start(
    program: string,
    argument: string,
    core: number,
    more: readonly string[] = [],
  ): Promise<LocalServer> {
    const path = new URL(program, import.meta.url).pathname;
    const profile = program === "gateway.ts" && profileFolder !== null
      ? [`--cpu-prof-dir=${profileFolder}`, "--cpu-prof-md"]
      : [];
    const options = ["--allow-all", "--no-prompt", ...rowV8Options(), ...profile];
    const args = ["run", ...options, ...more, path, argument];
    const child = spawn(Deno.execPath(), args, core, { stdout: "piped" });
    return {
      port: await readPort(child),
      pid: child.pid,
      cpuMs: () => readCpuMs(child.pid),
      memoryBytes: () => readMemoryBytes(child.pid),
    };
  }

  async function startInstalled(
    path: string,
    args: readonly string[],
    port: number,
    core: number,
    settings: InstalledSettings = QUIET,
  ): Promise<ServerProcess> {
    const { environment, logPath, listenTimeoutMs } = settings;
    const env = { ...environment, BENCH_LOG: logPath };
    const child = spawn("sh", ["-c", RUN_UNTIL_STDIN_ENDS, path, ...args], core, {
      env,
      stdout: "null",
    });
    const began = performance.now();
    const hasEnded = () => performance.now() - began > START_MS && !hasRunningChild(child.pid);
    await waitForListener(path, port, { listenTimeoutMs, hasEnded });
    return { port, cpuMs: () => sumOf(processTree(child.pid).map(readFamilyCpuMs)) };
  }

  async function end() {
    // A gateway ends before the store that it uses.
    for (const child of children.splice(0).toReversed()) {
      const timer = setTimeout(() => killTree(child.pid), MAX_END_MS);
      await child.stdin.close();
      await child.status;
      clearTimeout(timer);
    }
  }

  return { start, startInstalled, [Symbol.asyncDispose]: end };
}

/**
 * The shell ends the program when its own input ends or a terminal or `timeout` ends all processes,
 * so that the program cannot outlive the benchmark: its process group and its children with groups
 * of their own, because a command may start further processes. An interrupt ends only the
 * benchmark, which closes the input. What still runs after a while is killed.
 */
const RUN_UNTIL_STDIN_ENDS = `
trap '' INT
trap : HUP QUIT TERM
tree() ( for one in $(cat /proc/$1/task/*/children 2>/dev/null); do tree "$one"; echo "$one"; done )
if [ "$BENCH_LOG" != /dev/null ]; then exec 2>>"$BENCH_LOG"; fi
if command -v setsid >/dev/null; then group=- start=setsid; fi
$start "$0" "$@" </dev/null >>"$BENCH_LOG" &
server=$!
read -r _
all="$group$server $(tree $server)"
kill -- $all 2>/dev/null
left=30
while [ $left -gt 0 ] && kill -s 0 -- "$group$server" 2>/dev/null; do sleep 0.1; left=$((left - 1)); done
for one in $all; do kill -s KILL -- $one 2>/dev/null; done
wait $server 2>/dev/null
`;

/** The time after which a program that ignores the request to end is killed with its shell. */
const MAX_END_MS = 10_000;

/** Kills a process with its children. */
function killTree(pid: number): void {
  for (const one of processTree(pid).toReversed()) {
    try {
      Deno.kill(one, "SIGKILL");
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** The settings of a program that writes nothing of interest except its errors. */
const QUIET: InstalledSettings = {
  environment: {},
  logPath: "/dev/null",
  listenTimeoutMs: 10_000,
};

/** The time after which the shell has certainly started the program. */
const START_MS = 1_000;

/** False if no child of a process runs; true where the system does not report them. */
function hasRunningChild(pid: number): boolean {
  const children = processTree(pid).slice(1);
  return Deno.build.os !== "linux" || children.some((child) => processFields(child)[0] !== "Z");
}

async function waitForListener(
  path: string,
  port: number,
  { listenTimeoutMs, hasEnded }: {
    readonly listenTimeoutMs: number;
    readonly hasEnded: () => boolean;
  },
): Promise<void> {
  const end = performance.now() + listenTimeoutMs;
  for (;;) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch (error) {
      if (hasEnded()) throw new Error(`${path} has ended.`, { cause: error });
      if (performance.now() > end) throw new Error(`${path} does not listen.`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** Returns a loopback port that no program uses. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function readPort(child: Deno.ChildProcess): Promise<number> {
  let text = "";
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes("\n")) return Number(text);
  }
  throw new Error("A server of the benchmark exited before it printed its port.");
}

/** Returns the process with its children, as Linux reports them. */
export function processTree(pid: number): readonly number[] {
  if (Deno.build.os !== "linux") return [pid];
  try {
    // A child belongs to the thread that started it.
    const children = [...Deno.readDirSync(`/proc/${pid}/task`)].flatMap(({ name }) =>
      Deno.readTextFileSync(`/proc/${pid}/task/${name}/children`).split(" ").filter((id) =>
        id !== ""
      )
    );
    return [pid, ...children.map(Number).flatMap(processTree)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Returns the sum; null if one part is not known. */
export function sumOf(parts: readonly (number | null)[]): number | null {
  return parts.reduce((sum, part) => sum === null || part === null ? null : sum + part, 0);
}

/** Threads of a process: all of them, or the one that runs the program. */
export type Threads = "all" | "main";

/** Returns what Linux reports of a process or of its main thread, from its state on. */
function processFields(pid: number, threads: Threads = "all"): readonly string[] {
  const place = threads === "all" ? `/proc/${pid}` : `/proc/${pid}/task/${pid}`;
  const stat = Deno.readTextFileSync(`${place}/stat`);
  // The process name is in parentheses and may contain spaces.
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readCpuMs(pid: number, threads: Threads = "all"): number | null {
  if (Deno.build.os !== "linux") return null;
  const fields = processFields(pid, threads);
  return (Number(fields[11]) + Number(fields[12])) * CPU_TICK_MS;
}

/**
 * Returns the processor time in milliseconds of a process and its running children; null where the
 * system does not report it.
 */
export function treeCpuMs(pid: number, threads: Threads): number | null {
  return sumOf(processTree(pid).map((one) => unlessEnded(() => readCpuMs(one, threads))));
}

/** Returns what is read of a process; 0 if it has ended. */
function unlessEnded(read: () => number | null): number | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/**
 * Returns the processor time of a process and of its children that have ended, in milliseconds: 0
 * if it has ended itself.
 */
function readFamilyCpuMs(pid: number): number | null {
  if (Deno.build.os !== "linux") return null;
  return unlessEnded(() => {
    const ticks = processFields(pid).slice(11, 15).map(Number);
    return ticks.reduce((sum, one) => sum + one, 0) * CPU_TICK_MS;
  });
}

/** Moves this process to the second core. Returns false without two cores or `taskset`. */
export async function pinSelf(): Promise<boolean> {
  if (navigator.hardwareConcurrency < 2) return false;
  try {
    const args = ["-a", "-c", "-p", "1", String(Deno.pid)];
    const { success } = await new Deno.Command("taskset", { args, stdout: "null", stderr: "null" })
      .output();
    return success;
  } catch {
    return false;
  }
}

/**
 * Returns the resident memory of a process in bytes, or the part of it that are pages of files;
 * null where the system does not report it.
 */
export function readMemoryBytes(pid: number, part: "VmRSS" | "RssFile" = "VmRSS"): number | null {
  if (Deno.build.os !== "linux") return null;
  const [, kilobytes = ""] = new RegExp(`^${part}:\\s+(\\d+) kB$`, "m")
    .exec(Deno.readTextFileSync(`/proc/${pid}/status`)) ?? [];
  return Number(kilobytes) * 1024;
}

/** Parts of the resident memory of a process. */
export const MEMORY_PARTS = [
  "pages of files",
  "the engine",
  "the C library's heap",
  "its large blocks, and stacks",
] as const;

/** Bytes by the parts. */
export type MemoryParts = Readonly<Record<typeof MEMORY_PARTS[number], number>>;

/** From this address on Linux puts the blocks and stacks of the C library, above the engine. */
const MIN_BLOCK_ADDRESS = 0x7f00_0000_0000;

/** Returns the parts of the resident memory; null where the system does not report them. */
export function readMemoryParts(pid: number): MemoryParts | null {
  if (Deno.build.os !== "linux" || Deno.build.arch !== "x86_64") return null;
  return memoryPartsOf(Deno.readTextFileSync(`/proc/${pid}/smaps`));
}

/** Returns the parts of the memory that Linux lists by mapping (`smaps`). */
export function memoryPartsOf(smaps: string): MemoryParts {
  const parts = Object.fromEntries(MEMORY_PARTS.map((part) => [part, 0])) as Record<
    typeof MEMORY_PARTS[number],
    number
  >;
  let part: typeof MEMORY_PARTS[number] = "pages of files";
  for (const line of smaps.split("\n")) {
    const head = /^([0-9a-f]+)-\S+ (\S+) \S+ \S+ \d+ *(.*)$/.exec(line);
    if (head !== null) {
      const [, address = "", rights = "", name = ""] = head;
      const isBlock = parseInt(address, 16) >= MIN_BLOCK_ADDRESS && !rights.includes("x");
      part = name.startsWith("/")
        ? "pages of files"
        : name === "[heap]"
        ? "the C library's heap"
        : isBlock
        ? "its large blocks, and stacks"
        : "the engine";
    }
    const [, kilobytes] = /^Rss: +(\d+) kB$/.exec(line) ?? [];
    if (kilobytes !== undefined) parts[part] += Number(kilobytes) * 1024;
  }
  return parts;
}
