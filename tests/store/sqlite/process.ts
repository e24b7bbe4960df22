import { type Output, outputOf } from "../../cli/program.ts";

const PROGRAM = new URL("./program.ts", import.meta.url).pathname;

/**
 * The program needs no package, and without the configuration none is fetched: a user whose Deno
 * has no cache would fetch all of the repository.
 */
const ALONE = ["--no-config", "--no-npm", "--no-remote", "--unstable-net"];

/** A process with a store. */
export interface StoreProcess {
  readonly child: Deno.ChildProcess;
  readonly out: Output;
}

/** Starts a process with a store; `permissions` are those of `deno run`. */
export function startProcess(
  args: readonly string[],
  permissions: readonly string[] = ["--allow-all"],
  { command = Deno.execPath(), ...options }: Deno.CommandOptions & { command?: string } = {},
): StoreProcess {
  const child = new Deno.Command(command, {
    args: ["run", ...ALONE, "--no-check", "--no-prompt", ...permissions, PROGRAM, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    ...options,
  }).spawn();
  return { child, out: outputOf(child.stdout) };
}

/** Runs a process to its end and returns the lines that it has printed. */
export async function linesOf({ child, out }: StoreProcess): Promise<readonly string[]> {
  await child.stdin.close();
  const text = await out.rest();
  await child.status;
  return text.split("\n").filter((line) => line !== "");
}
