import { nearest } from "../config/problems.ts";
import { optionValue } from "./arguments.ts";
import { type Command, OK_STATUS, wrongUsage } from "./command.ts";
import { columns } from "./help.ts";
import { HELP_PAGES, type HelpPage } from "./help_pages.ts";

const TOPIC = "[TOPIC]";

/** Command `switchyard help TOPIC`: prints a page of the documentation; without a topic, the list of all pages. */
export const help: Command = {
  name: "help",
  about: "Prints a page of the documentation, or the list of all pages.",
  word: TOPIC,
  options: {},
  run(options, terminal) {
    const topic = optionValue(options, TOPIC);
    if (topic === undefined) {
      terminal.out(pageList());
      return Promise.resolve(OK_STATUS);
    }
    const page = HELP_PAGES.find((one) => one.topic === topic);
    if (page === undefined) {
      return Promise.resolve(wrongUsage(terminal, "help", unknownTopic(topic)));
    }
    terminal.out(page.text);
    return Promise.resolve(OK_STATUS);
  },
};

function pageList(): string {
  const rows = HELP_PAGES.map((page) => [page.topic, titleOf(page)]);
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

function unknownTopic(topic: string): string {
  const likely = nearest(topic, HELP_PAGES.map((page) => page.topic));
  const hint = likely === null ? '; "switchyard help" lists them' : `; did you mean ${likely}?`;
  return `There is no topic "${topic}"${hint}${likely === null ? "." : ""}`;
}
