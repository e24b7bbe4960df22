import { type Options, optionValue } from "./arguments.ts";
import { type Command, OK_STATUS, wrongUsage } from "./command.ts";
import { nearest } from "../config/problems.ts";
import type { HelpPage } from "./help_pages.ts";

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

const TOPIC = "[TOPIC]";

/** Comments in a page: which tests show its figures, and which script writes a part of it. */
const COMMENT = /\n<!--[\s\S]*?-->\n/g;

/**
 * Command `switchyard help TOPIC`: prints a page of the documentation; without a topic, the list of
 * all pages.
 */
export const help: Command = {
  name: "help",
  about: "Prints a page of the documentation, or the list of all pages.",
  word: TOPIC,
  async choices() {
    const { HELP_PAGES } = await import("./help_pages.ts");
    return HELP_PAGES.map(({ topic }) => topic);
  },
  options: {},
  async run(options, terminal) {
    // Loaded only now: other commands do not need the texts in memory.
    const { HELP_PAGES } = await import("./help_pages.ts");
    const topic = optionValue(options, TOPIC);
    if (topic === undefined) {
      terminal.out(pageList(HELP_PAGES));
      return OK_STATUS;
    }
    const page = HELP_PAGES.find((one) => one.topic === topic);
    if (page === undefined) return wrongUsage(terminal, "help", unknownTopic(topic, HELP_PAGES));
    terminal.out(page.text.replace(COMMENT, ""));
    return OK_STATUS;
  },
};

function pageList(pages: readonly HelpPage[]): string {
  const rows = pages.map((page) => [page.topic, titleOf(page)]);
  return [
    "Usage: switchyard help TOPIC",
    "",
    "Topics:",
    ...columns(rows),
    "",
    'Arguments and options of a command: "switchyard COMMAND --help".',
    "",
  ].join("\n");
}

function titleOf({ text }: HelpPage): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? "";
}

function unknownTopic(topic: string, pages: readonly HelpPage[]): string {
  const likely = nearest(topic, pages.map((page) => page.topic));
  const hint = likely === null ? '; "switchyard help" lists them' : `; did you mean ${likely}?`;
  return `There is no topic "${topic}"${hint}${likely === null ? "." : ""}`;
}
