/** A server process of the benchmark. */
export interface ServerProcess {
  readonly port: number;
  /**
   * Returns the processor time of the process in milliseconds; null where the system does not
   * report it.
   */
  cpuMs(): number | null;
}

/** Starts the servers of the benchmark. Disposing it ends them all. */
export interface ServerProcesses extends AsyncDisposable {
  start(program: string, argument: string, core: number): Promise<ServerProcess>;
}

/** Linux reports processor time in units of a hundredth of a second. */
const CPU_TICK_MS = 10;

/** Returns a starter of server processes, each pinned to a core if `taskset` exists. */
export function newServerProcesses(canPin: boolean): ServerProcesses {
  const children: Deno.ChildProcess[] = [];

  async function start(program: string, argument: string, core: number): Promise<ServerProcess> {
    const deno = Deno.execPath();
    const path = new URL(program, import.meta.url).pathname;
    const args = ["run", "--allow-all", "--no-prompt", path, argument];
    const command = canPin
      ? new Deno.Command("taskset", { args: ["-c", String(core), deno, ...args], ...PIPES })
      : new Deno.Command(deno, { args, ...PIPES });
    const child = command.spawn();
    children.push(child);
    return { port: await readPort(child), cpuMs: () => readCpuMs(child.pid) };
  }

  async function end() {
    for (const child of children) {
      await child.stdin.close();
      await child.status;
    }
  }

  return { start, [Symbol.asyncDispose]: end };
}

const PIPES = { stdin: "piped", stdout: "piped" } as const;

async function readPort(child: Deno.ChildProcess): Promise<number> {
  let text = "";
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes("\n")) return Number(text);
  }
  throw new Error("A server of the benchmark exited before it printed its port.");
}

function readCpuMs(pid: number): number | null {
  if (Deno.build.os !== "linux") return null;
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  // The process name is in parentheses and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * CPU_TICK_MS;
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
