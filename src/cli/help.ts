import type { Options } from "./arguments.ts";
import type { Command } from "./command.ts";

/** Options of every command. */
export const COMMON_OPTIONS: Options = {
  help: { value: null, about: "Shows this text." },
  version: { value: null, about: "Shows the version." },
};

/** Returns the help text of a command; the default command also lists all commands. */
export function helpText(command: Command, all: readonly Command[]): string {
  const named = all.filter(({ name }) => name !== "");
  const commands = named.map(({ name, about }) => [name, about] as const);
  const options = Object.entries({ ...command.options, ...COMMON_OPTIONS })
    .map(([name, { value, about }]) => [`--${name}${value === null ? "" : ` ${value}`}`, about]);
  const usage = ["switchyard", command.name, command.word ?? "", "[options]"].filter(Boolean).join(
    " ",
  );
  return [
    `Usage: ${usage}`,
    ...(command.name === "" ? ["       switchyard COMMAND [options]"] : []),
    "",
    command.about,
    "",
    ...(command.name === "" ? ["Commands:", ...columns(commands), ""] : []),
    "Options:",
    ...columns(options),
    "",
  ].join("\n");
}

/** Returns rows of names and descriptions as two indented columns. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([first = ""]) => first.length));
  return rows.map(([first = "", second = ""]) => `  ${first.padEnd(width)}  ${second}`);
}
