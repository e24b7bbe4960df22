import { PERMISSIONS } from "../packaging/permissions.ts";
import { linesOf } from "../soak/gateway_process.ts";
import { endAtOnce } from "../tools/interrupt.ts";
import { v8Options } from "../packaging/v8_flags.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const HERE = new URL("./", import.meta.url).pathname;

/** A program of an attack, which writes a line of JSON when it serves and when it is over. */
export interface RoleProcess {
  /** Returns the next line. */
  next(): Promise<unknown>;
  /** Ends its standard input. */
  finish(): Promise<void>;
}

/** Starts `role.ts` with these arguments; one that is nice leaves the processor to others. */
export function startRole(
  started: AsyncDisposableStack,
  args: readonly string[],
  isNice = true,
): RoleProcess {
  const deno = [Deno.execPath(), "run", "--allow-all", "--no-prompt", `${HERE}role.ts`, ...args];
  const [program = "", ...rest] = isNice ? ["nice", "-n", "10", ...deno] : deno;
  const child = new Deno.Command(program, {
    args: rest,
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  started.defer(async () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await child.status;
  });
  const lines = linesOf(child.stdout).getReader();
  return {
    async next() {
      const { done, value } = await lines.read();
      if (done) throw new Error(`The program ${args.slice(0, 2).join(" ")} has ended.`);
      return JSON.parse(value);
    },
    finish: () => child.stdin.close(),
  };
}

/** A gateway that runs from the sources, as an attack measures it. */
export interface AttackedGateway {
  readonly url: string;
  readonly pid: number;
  /** Resident memory in bytes. */
  residentBytes(): number;
  /** The most resident memory so far. */
  peakBytes(): number;
  /**
   * Returns the longest gap of its event loop since the last call, and the longest time of the
   * processor in one gap, in milliseconds.
   */
  takeGaps(): readonly [gapMs: number, processorMs: number];
  /** Lines of its log that report a bug, and its exit code if it has ended. */
  readonly complaints: readonly string[];
  /** Ends it, and waits until it has written its profile. */
  stop(): Promise<void>;
}

/** Starts the gateway; each writes a profile into the folder, if there is one. */
export async function startGateway(
  started: AsyncDisposableStack,
  configPath: string,
  profileFolder: string | null,
): Promise<AttackedGateway> {
  const profile = profileFolder === null ? [] : [`--cpu-prof-dir=${profileFolder}`];
  const own = [...PERMISSIONS, ...v8Options(Deno.version.deno)];
  const options = [...own, `--preload=${HERE}loop_gap.ts`, ...profile];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", ...options, `${ROOT}main.ts`, "--config", configPath],
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  started.defer(() => endAtOnce(child));
  const complaints: string[] = [];
  const address = Promise.withResolvers<string>();
  let longest: readonly [gapMs: number, processorMs: number] = [0, 0];
  let isStopped = false;

  function readLine(line: string) {
    const [, url] = /listens on (http[^\s"]+)/.exec(line) ?? [];
    if (url !== undefined) address.resolve(url.replace(/\/$/, ""));
    const [, gap, used] = /^loop-gap (\d+) (\d+)$/.exec(line) ?? [];
    if (gap !== undefined) {
      longest = [Math.max(longest[0], Number(gap)), Math.max(longest[1], Number(used))];
    } else if (/internal_error|Uncaught|panicked|out of memory/.test(line)) complaints.push(line);
  }

  const read = [drain(child.stdout, readLine), drain(child.stderr, readLine)];
  void child.status.then(({ code, signal }) => {
    address.reject(new Error("The gateway has ended before it listened."));
    if (!isStopped) complaints.push(`ended with ${signal ?? code}`);
  });
  return {
    url: await address.promise,
    pid: child.pid,
    residentBytes: () => memoryOf(child.pid, "VmRSS"),
    peakBytes: () => memoryOf(child.pid, "VmHWM"),
    takeGaps() {
      const gaps = longest;
      longest = [0, 0];
      return gaps;
    },
    complaints,
    async stop() {
      isStopped = true;
      await endAtOnce(child);
      await Promise.allSettled(read);
    },
  };
}

async function drain(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  read: (line: string) => void,
): Promise<void> {
  for await (const line of linesOf(stream)) read(line);
}

function memoryOf(pid: number, field: "VmRSS" | "VmHWM"): number {
  try {
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]) * 1024;
  } catch {
    return NaN;
  }
}
