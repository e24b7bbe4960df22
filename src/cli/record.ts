import type { RecordFileInfo } from "../record/record_file.ts";
import { optionValue } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  loadConfig,
  OK_STATUS,
  printProblems,
  wrongUsage,
} from "./command.ts";

const ACTION = "info";

/** Command `switchyard record info`: shows what the file of recorded calls contains. */
export const record: Command = {
  name: "record",
  // A SQLite database can only be opened for writing.
  writesFiles: true,
  about: "Shows what the file of recorded calls contains, while no gateway runs (info).",
  word: ACTION,
  choices: () => Promise.resolve([ACTION]),
  options: { config: CONFIG_OPTION },
  async run(options, terminal) {
    if (optionValue(options, ACTION) !== ACTION) {
      return wrongUsage(terminal, "record", "Write record info.");
    }
    const loaded = await loadConfig(options, terminal);
    if (!loaded.ok) return printProblems(terminal, loaded.problems);
    // Loaded only now, because most commands open no database.
    const { openRecords, problemIn } = await import("../record/read_records.ts");
    const opened = openRecords(loaded.config);
    if (!opened.ok) {
      const running = "A gateway that runs holds the file: stop it, or see its metrics.";
      return printProblems(
        terminal,
        opened.reason === "locked" ? [opened.problem, running] : [opened.problem],
      );
    }
    try {
      terminal.out(infoText(loaded.config.record.path, opened.file.info()));
      return OK_STATUS;
    } catch (error) {
      const { path } = loaded.config.record;
      return printProblems(terminal, [problemIn(path, error)]);
    } finally {
      opened.file.close();
    }
  },
};

/** Returns a time of the file, where everybody with the file can change it. */
function timeText(ms: number | null): string | null {
  if (ms === null) return null;
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? "no time" : time.toISOString();
}

function infoText(path: string, info: RecordFileInfo): string {
  const { records, bytes, oldest, newest, readable, unreadable } = info;
  const lost = Object.entries(unreadable).map(([key, count]) => `${count} with key ${key}`);
  const facts: readonly (readonly [string, string | number | null])[] = [
    ["path", path],
    ["records", records],
    ["bytes", bytes],
    ["oldest", timeText(oldest)],
    ["newest", timeText(newest)],
    ["readable", readable],
    ["unreadable", lost.join(", ") || null],
  ];
  return facts.flatMap(([name, value]) => value === null ? [] : [`${name.padEnd(11)} ${value}\n`])
    .join("");
}
