import { existsSync } from "node:fs";
import { PERMISSIONS } from "../../scripts/packaging/permissions.ts";

const MAIN = new URL("../../main.ts", import.meta.url).pathname;

/** An executable that is tested instead of the sources: its absolute path. */
const BINARY = Deno.env.get("SWITCHYARD_BIN") ?? "";

/**
 * Path of the bundle of the sources that the runner of the whole suite makes. It may not be there
 * yet.
 */
const BUNDLE = Deno.env.get("SWITCHYARD_BUNDLE") ?? "";

/** The command that runs the bundle, or the sources without one, with these permissions. */
function runWith(permissions: readonly string[]): readonly [string, ...string[]] {
  return BUNDLE === "" || !existsSync(BUNDLE)
    ? [Deno.execPath(), "run", ...permissions, MAIN]
    : [Deno.execPath(), "run", "--no-config", "--unstable-net", ...permissions, BUNDLE];
}

/** The words that start the program with these arguments. */
export function programCommand(args: readonly string[]): readonly [string, ...string[]] {
  return [...(BINARY !== "" ? [BINARY] as const : runWith(PERMISSIONS)), ...args];
}

/** An output of a program. */
export interface Output {
  /**
   * Resolves with the match once the output holds it; null when it ends without. `each` receives
   * the texts that are read meanwhile.
   */
  until(pattern: RegExp, each?: (text: string) => void): Promise<RegExpExecArray | null>;
  /** All of it, once the program has ended. */
  rest(): Promise<string>;
}

/** A program that runs. */
export interface Program {
  readonly child: Deno.ChildProcess;
  readonly out: Output;
  readonly err: Output;
}

/**
 * The real program, its outputs as they come. Read both to their end. `before` is a command that
 * runs the rest of its arguments.
 */
export function program(
  args: readonly string[],
  options: Deno.CommandOptions = {},
  before: readonly string[] = [],
): Program {
  return started([...before, ...programCommand(args)], options);
}

/**
 * The program with these permissions instead of the usual ones, also where an executable is tested.
 */
export function programWith(permissions: readonly string[], args: readonly string[]): Program {
  return started([...runWith(permissions), ...args], {});
}

/** The sources with these options of the runtime, whatever is tested. */
export function sourcesWith(options: readonly string[], args: readonly string[]): Program {
  return started([Deno.execPath(), "run", ...options, ...PERMISSIONS, MAIN, ...args], {});
}

function started(
  [command = "", ...args]: readonly string[],
  options: Deno.CommandOptions,
): Program {
  const child = new Deno.Command(command, {
    args,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    ...options,
  }).spawn();
  return { child, out: outputOf(child.stdout), err: outputOf(child.stderr) };
}

/** Reads what a program writes. */
export function outputOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Output {
  const texts = stream.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  async function until(
    pattern: RegExp | null,
    each: (text: string) => void = () => {},
  ): Promise<RegExpExecArray | null> {
    for (;;) {
      const found = pattern?.exec(text) ?? null;
      if (found !== null) return found;
      const { done, value } = await texts.read();
      if (done) return null;
      text += value;
      each(value);
    }
  }
  return {
    until,
    async rest() {
      await until(null);
      return text;
    },
  };
}
