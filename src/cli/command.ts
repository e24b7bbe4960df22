import type { Given, Options } from "./arguments.ts";
import type { Terminal } from "./terminal.ts";

/** Everything went well. */
export const OK = 0;

/** What was asked for could not be done; stderr says why. */
export const FAILED = 1;

/** The arguments are wrong. */
const WRONG_USAGE = 2;

/** Something the program can be asked to do. */
export interface Command {
  /** The first argument; empty for what is done without one. */
  readonly name: string;
  readonly about: string;
  /** What stands for its one word without dashes in the help; absent when it takes none. */
  readonly word?: string;
  readonly options: Options;
  /** Ends with the exit code of the process. */
  run(given: Given, terminal: Terminal): Promise<number>;
}

/** The option of every command that reads a configuration. */
export const CONFIG_OPTION = {
  value: "FILE",
  about: "The configuration file; ./config.yaml when it is not given.",
} as const;

/** The file that is read when none is named. */
export const USUAL_CONFIG = "./config.yaml";

/** Says what is wrong with the arguments of a command and where to read on. */
export function wrongUsage(terminal: Terminal, name: string, trouble: string): number {
  terminal.err(`${trouble} See "${["switchyard", name, "--help"].filter(Boolean).join(" ")}".\n`);
  return WRONG_USAGE;
}

/** Says everything that stands in the way, one line each. */
export function tellProblems(terminal: Terminal, problems: readonly string[]): number {
  terminal.err(problems.map((problem) => `${problem}\n`).join(""));
  return FAILED;
}
