import type { Options } from "./arguments.ts";
import type { Command } from "./command.ts";

/** Options that every command has. */
export const COMMON_OPTIONS: Options = {
  help: { value: null, about: "Shows this text." },
  version: { value: null, about: "Shows the version." },
};

/** How a command is used; that of the nameless one tells of all the others. */
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

/** Rows of a name and its description, aligned in two columns and indented. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([first = ""]) => first.length));
  return rows.map(([first = "", second = ""]) => `  ${first.padEnd(width)}  ${second}`);
}
