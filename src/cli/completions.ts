import { optionValue } from "./arguments.ts";
import { type Command, OK_STATUS, wrongUsage } from "./command.ts";
import { bashScript } from "./completions/bash.ts";
import { type CompletedCommand, completedCommands } from "./completions/completed_command.ts";
import { fishScript } from "./completions/fish.ts";
import { zshScript } from "./completions/zsh.ts";

/** The shells with a completion script. */
const SCRIPTS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

const SHELLS = Object.keys(SCRIPTS);
const SHELL = SHELLS.join("|");

/**
 * Returns the command `switchyard completions SHELL`, which prints the script that completes
 * `commands` in a shell.
 */
export function newCompletions(commands: () => readonly Command[]): Command {
  return {
    name: "completions",
    about: "Prints the script with which a shell completes commands, options and their values.",
    word: SHELL,
    choices: () => Promise.resolve(SHELLS),
    options: {},
    async run(options, terminal) {
      const shell = optionValue(options, SHELL) ?? "";
      const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
      if (script === undefined) {
        return wrongUsage(terminal, "completions", `Name a shell: ${SHELLS.join(", ")}.`);
      }
      terminal.out(script(await completedCommands(commands())));
      return OK_STATUS;
    },
  };
}
