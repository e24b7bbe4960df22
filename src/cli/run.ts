import { nearest } from "../config/problems.ts";
import { VERSION } from "../core/build.ts";
import { agent } from "./agent.ts";
import { parseArguments } from "./arguments.ts";
import { check } from "./check.ts";
import { type Command, OK_STATUS, wrongUsage } from "./command.ts";
import { newCompletions } from "./completions.ts";
import { demo } from "./demo.ts";
import { explain } from "./explain.ts";
import { redact } from "./redact.ts";
import { COMMON_OPTIONS, help, helpText } from "./help.ts";
import { health } from "./health.ts";
import { importClaudeCodeRouter, importLitellm } from "./import.ts";
import { init } from "./init.ts";
import { keyNew } from "./key_new.ts";
import { keyRotate } from "./key_rotate.ts";
import { replay } from "./replay.ts";
import { record } from "./record.ts";
import { schema } from "./schema.ts";
import { serve } from "./serve.ts";
import { simulate } from "./simulate.ts";
import { state } from "./state.ts";
import { log, logShow } from "./log.ts";
import type { Terminal } from "./terminal.ts";
import { top } from "./top.ts";
import { usage } from "./usage.ts";
import { worker } from "./worker.ts";

/** Every command for users; the first one has no name. */
export const COMMANDS: readonly Command[] = [
  serve,
  init,
  importLitellm,
  importClaudeCodeRouter,
  check,
  explain,
  replay,
  redact,
  agent,
  keyNew,
  keyRotate,
  schema,
  state,
  usage,
  log,
  logShow,
  record,
  top,
  health,
  demo,
  simulate,
  newCompletions(() => COMMANDS),
  help,
];

/**
 * Runs the command in the arguments. Returns the exit code: 0, 1 after a failure, 2 for wrong
 * usage.
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<number> {
  const words = args.slice(0, args[0]?.startsWith("-") ? 0 : 2);
  const all = [...COMMANDS, worker];
  const command = all.find((one) => one.name === words.join(" ")) ??
    all.find((one) => one.name === (words[0] ?? ""));
  if (command === undefined) return wrongUsage(terminal, "", unknownCommand(words));
  const { name } = command;
  const rest = name === "" ? args : args.slice(name.split(" ").length);
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
  if (command.writesFiles !== true) terminal.dropWriteAccess();
  if (command.startsProcesses !== true) terminal.dropRunAccess();
  return await command.run(parsed.values, terminal);
}

function unknownCommand(words: readonly string[]): string {
  const [name = ""] = words;
  const known = COMMANDS.map((command) => command.name).filter(Boolean);
  const likely = known.find((one) => one.startsWith(`${name} `)) ?? nearest(name, known);
  const hint = likely === null ? "" : `; did you mean ${likely}?`;
  return `There is no command "${name}"${hint || "."}`;
}
