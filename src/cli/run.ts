import { nearest } from "../config/problems.ts";
import { VERSION } from "../core/build.ts";
import { parseArguments } from "./arguments.ts";
import { check } from "./check.ts";
import { type Command, OK_STATUS, wrongUsage } from "./command.ts";
import { demo } from "./demo.ts";
import { explain } from "./explain.ts";
import { COMMON_OPTIONS, helpText } from "./help.ts";
import { help } from "./help_topic.ts";
import { init } from "./init.ts";
import { schema } from "./schema.ts";
import { serve } from "./serve.ts";
import { simulate } from "./simulate.ts";
import { state } from "./state.ts";
import type { Terminal } from "./terminal.ts";

/** Every command; the first one has no name. */
export const COMMANDS: readonly Command[] = [
  serve,
  init,
  check,
  explain,
  schema,
  state,
  demo,
  simulate,
  help,
];

/** Runs the command in the arguments. Returns the exit code: 0, 1 after a failure, 2 for wrong usage. */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const [first = ""] = args;
  const name = first.startsWith("-") ? "" : first;
  const command = COMMANDS.find((one) => one.name === name);
  if (command === undefined) return wrongUsage(terminal, "", unknownCommand(name));
  const rest = name === "" ? args : args.slice(1);
  const parsed = parseArguments(
    rest,
    { ...command.options, ...COMMON_OPTIONS },
    command.word ?? null,
  );
  if (!parsed.ok) return wrongUsage(terminal, name, parsed.trouble);
  if (parsed.values.has("help")) {
    terminal.out(helpText(command, COMMANDS));
    return OK_STATUS;
  }
  if (parsed.values.has("version")) {
    terminal.out(`switchyard ${VERSION}\n`);
    return OK_STATUS;
  }
  return await command.run(parsed.values, terminal);
}

function unknownCommand(name: string): string {
  const likely = nearest(name, COMMANDS.map((command) => command.name).filter(Boolean));
  const hint = likely === null ? "" : `; did you mean ${likely}?`;
  return `There is no command "${name}"${hint || "."}`;
}
