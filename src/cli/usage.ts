import type { Config } from "../config/schema.ts";
import { newCalendar } from "../core/calendar.ts";
import { daysUntil, type UsageRow } from "../core/usage_row.ts";
import { visible } from "../core/visible_text.ts";
import {
  newUsageReport,
  parseDays,
  USAGE_COLUMNS,
  USAGE_COLUMNS_TEXT,
  usageCsv,
  usageJson,
  type UsageReport,
  usageTable,
} from "../observe/usage_report.ts";
import { openStateStore } from "../store/open_store.ts";
import { optionValue } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  FAILED_STATUS,
  loadConfig,
  OK_STATUS,
  printProblems,
  wrongUsage,
} from "./command.ts";
import { onStore } from "./on_store.ts";
import { placeText } from "./state_text.ts";
import type { Terminal } from "./terminal.ts";

/** Output formats of the command. */
const FORMATS: Readonly<Record<string, (report: UsageReport) => string>> = {
  text: usageText,
  json: (report) => `${JSON.stringify(usageJson(report), null, 2)}\n`,
  csv: usageCsv,
};

/** Command `switchyard usage`: shows what client keys have used. */
export const usage: Command = newUsageCommand(openStateStore, () => Date.now());

/**
 * Returns the command `usage`; `openStore` opens the store of a configuration, `wall` is the clock.
 */
export function newUsageCommand(
  openStore: typeof openStateStore,
  wall: () => number,
): Command {
  return {
    name: "usage",
    // A SQLite database can only be opened for writing.
    writesFiles: true,
    about: "Shows the calls, tokens and cost of client keys, from the state store.",
    options: {
      config: CONFIG_OPTION,
      format: {
        value: "FORMAT",
        choices: Object.keys(FORMATS),
        about: "text (default), json or csv.",
      },
      by: {
        value: "COLUMN",
        choices: USAGE_COLUMNS,
        about: `Adds up by ${USAGE_COLUMNS_TEXT}; by all but user without it.`,
      },
      key: { value: "NAME", about: "Only the usage of this client key." },
      days: { value: "N", about: "Number of days up to today; default: all stored days." },
    },
    async run(options, terminal) {
      const format = FORMATS[optionValue(options, "format") ?? "text"];
      if (format === undefined) {
        return wrongUsage(terminal, "usage", "--format is text, json or csv.");
      }
      const by = optionValue(options, "by") ?? null;
      const column = USAGE_COLUMNS.find((name) => name === by) ?? null;
      if (by !== column) {
        return wrongUsage(terminal, "usage", `--by is ${USAGE_COLUMNS_TEXT}.`);
      }
      const loaded = await loadConfig(options, terminal);
      if (!loaded.ok) return printProblems(terminal, loaded.problems);
      const { state, security } = loaded.config;
      const written = optionValue(options, "days");
      const stored = state.usage_days;
      const days = written === undefined ? stored : parseDays(written, stored);
      if (days === null) return wrongUsage(terminal, "usage", "--days is a number from 1 on.");
      if (state.store === "none" || state.store === "memory") return inProcess(terminal, state);
      const key = optionValue(options, "key") ?? null;
      const to = newCalendar(security.time_zone).dateOf(wall());
      const wanted = daysUntil(to, days);
      const rows = await readRows(openStore, state, terminal, wanted);
      if (typeof rows === "number") return rows;
      const from = wanted.at(-1) ?? to;
      terminal.out(format(newUsageReport(rows, { from, to }, column, key)));
      return OK_STATUS;
    },
  };
}

function inProcess(terminal: Terminal, { store }: Config["state"]): number {
  terminal.err(
    `state.store is ${store}: the usage is in the process of the gateway. Set state.store to sqlite ` +
      "or valkey, or read gateway_client_tokens_total and gateway_client_spend_usd_total at /metrics.\n",
  );
  return FAILED_STATUS;
}

/** Returns the rows of these days; an exit code if the store cannot be read. */
async function readRows(
  openStore: typeof openStateStore,
  settings: Config["state"],
  terminal: Terminal,
  days: readonly string[],
): Promise<readonly UsageRow[] | number> {
  const outcome = await onStore(openStore, settings, (store) => store.usage.read(days));
  switch (outcome.kind) {
    case "absent":
      terminal.err(`${settings.sqlite.path} does not exist, so there is no usage.\n`);
      return [];
    case "refused":
      return printProblems(terminal, [outcome.problem, ...runningHint(settings)]);
    case "silent":
      return printProblems(terminal, [`The state store (${placeText(settings)}) does not answer.`]);
    case "done":
      return outcome.value;
  }
}

function runningHint({ store }: Config["state"]): readonly string[] {
  return store === "sqlite"
    ? [
      "A gateway that runs holds its database: stop it, or read gateway_client_tokens_total and " +
      "gateway_client_spend_usd_total at /metrics.",
    ]
    : [];
}

function usageText(report: UsageReport): string {
  const period = `Usage from ${report.from} to ${report.to}`;
  if (report.lines.length === 0) return `${period}: none.\n`;
  const lines = usageTable(report).map((line) => line.map(visible));
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const padded = lines.map((line) =>
    line.map((field, at) => field.padEnd(widths?.[at] ?? 0)).join("  ").trimEnd()
  );
  return [`${period}:`, "", ...padded, ""].join("\n");
}
