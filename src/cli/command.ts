import { load, type Loaded } from "../config/load.ts";
import { type Options, optionValue, type OptionValues } from "./arguments.ts";
import type { Terminal } from "./terminal.ts";

/** Exit code of a command that succeeded. */
export const OK_STATUS = 0;

/** Exit code of a command that failed; the reason is on stderr. */
export const FAILED_STATUS = 1;

/** Exit code for wrong arguments. */
const WRONG_USAGE_STATUS = 2;

/** A command of the program. */
export interface Command {
  /** First argument; empty for the default command. */
  readonly name: string;
  readonly about: string;
  /** Placeholder of the positional argument in the help; absent if there is none. */
  readonly word?: string;
  /** Returns the arguments that a shell offers; absent if any argument is possible. */
  choices?(): Promise<readonly string[]>;
  readonly options: Options;
  /** True if the command writes files; all other commands give up the right before they run. */
  readonly writesFiles?: true;
  /**
   * True if the command starts worker processes; all other commands give up the right before they
   * run.
   */
  readonly startsProcesses?: true;
  /** Runs the command; resolves with the exit code of the process. */
  run(options: OptionValues, terminal: Terminal): Promise<number>;
}

/** The option of every command that reads a configuration. */
export const CONFIG_OPTION = {
  value: "FILE",
  about: "The configuration file; default: ./config.yaml.",
} as const;

/** Default configuration file. */
export const USUAL_CONFIG = "./config.yaml";

/** Returns the path of the configuration file of a command. */
export function configPath(options: OptionValues): string {
  return optionValue(options, "config") ?? USUAL_CONFIG;
}

/** Loads the configuration file of a command. */
export async function loadConfig(
  options: OptionValues,
  { environment }: Pick<Terminal, "environment">,
): Promise<Loaded> {
  return await load(configPath(options), environment);
}

/** Writes the problem with the arguments of a command and refers to its help. */
export function wrongUsage(terminal: Terminal, name: string, trouble: string): number {
  terminal.err(`${trouble} See "${["switchyard", name, "--help"].filter(Boolean).join(" ")}".\n`);
  return WRONG_USAGE_STATUS;
}

/** Writes all problems, one line each. */
export function printProblems(terminal: Terminal, problems: readonly string[]): number {
  terminal.err(problems.map((problem) => `${problem}\n`).join(""));
  return FAILED_STATUS;
}
