/** A server that runs beside the benchmark. */
export interface ServerProcess {
  readonly port: number;
  /** Processor time that it has used, in milliseconds; null where the system does not tell. */
  cpuMs(): number | null;
}

/** Starts the benchmark's servers; disposing ends them all. */
export interface ServerProcesses extends AsyncDisposable {
  start(program: string, argument: string, core: number): Promise<ServerProcess>;
}

/** Linux tells processor time in hundredths of a second. */
const CPU_TICK_MS = 10;

/** Servers pinned to a core where `taskset` exists, so that only one thing at a time is measured. */
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
  throw new Error("A server of the benchmark ended before it listened.");
}

function readCpuMs(pid: number): number | null {
  if (Deno.build.os !== "linux") return null;
  const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
  // The name of the program stands in parentheses and may hold blanks.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * CPU_TICK_MS;
}

/** Whether there are two cores and a `taskset`; then this process moves to the second core itself. */
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
