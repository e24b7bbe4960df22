import { load } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { newCalendar } from "../core/calendar.ts";
import { visibleLines } from "../core/visible_text.ts";
import { parseTime } from "../record/filter_options.ts";
import { isFailing, parseFailOn, USUAL_FAIL_ON } from "../replay/fail_on.ts";
import { newRecordSet, type RecordText, type ReplayFilter } from "../replay/record_set.ts";
import { type ReplayOptions, replaySet } from "../replay/replay_set.ts";
import { type Report, reportJson } from "../replay/report.ts";
import { reportText } from "../replay/report_text.ts";
import { PLACE_OPTIONS } from "./admin_place.ts";
import { optionValue, type OptionValues } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  configPath,
  FAILED_STATUS,
  OK_STATUS,
  printProblems,
  wrongUsage,
} from "./command.ts";
import { openText } from "./replay_records.ts";
import type { Terminal } from "./terminal.ts";

const FORMATS = ["text", "json"];

/** Maximum value of `--seed`. */
const MAX_SEED = 2 ** 31;

/** Maximum value of `--jobs`: each thread compiles both configurations. */
const MAX_JOBS = 64;

/** Command `switchyard replay`: compares what two configurations do with recorded calls. */
export const replay: Command = {
  name: "replay",
  about:
    "Compares what another configuration would do with recorded calls, without sending them; " +
    "exit code 1 for a difference.",
  writesFiles: true,
  options: {
    against: { value: "FILE", about: "The configuration to compare with." },
    config: CONFIG_OPTION,
    records: {
      value: "FILE",
      about: "Exported records, one JSON object a line; default: those of the gateway.",
    },
    ...PLACE_OPTIONS,
    since: {
      value: "TIME",
      about: "Only records since a day or time, such as 2026-11-23T14:00, or of the last 2h or 1d.",
    },
    key: { value: "NAME", about: "Only records of this client key." },
    "fail-on": {
      value: "KINDS",
      about: `Differences with exit code 1: any, none, or kinds with commas, also cost:+10%; ` +
        `${USUAL_FAIL_ON} by default.`,
    },
    format: { value: "FORMAT", about: "text (default) or json.", choices: FORMATS },
    out: { value: "FILE", about: "Writes the report into a new file." },
    jobs: { value: "NUMBER", about: "Threads that replay; 1 by default. They change no report." },
    seed: { value: "NUMBER", about: "Where the random numbers of the plans begin; 1 by default." },
    bytes: { value: null, about: "Also compares white space and the order of members." },
    all: { value: null, about: "Lists every record of equal differences." },
    "show-content": { value: null, about: "Also prints values of requests, which are content." },
  },
  async run(options, terminal) {
    const given = parseOptions(options);
    if (typeof given === "string") return wrongUsage(terminal, "replay", given);
    const configs = await loadBoth(given, terminal);
    if (configs === null) return FAILED_STATUS;
    const filter = filterOf(given, configs.after);
    if (filter === null) {
      return wrongUsage(terminal, "replay", "--since must be a day, a time, or such as 2h or 1d.");
    }
    const opened = await openText(options, filter, terminal);
    if (!opened.ok) {
      return opened.isUsage
        ? wrongUsage(terminal, "replay", opened.problems.join(" "))
        : printProblems(terminal, opened.problems);
    }
    using records = opened.text;
    const { out } = given;
    const writer = out === undefined ? null : terminal.reserve(out);
    if (typeof writer === "string") return printProblems(terminal, [`The file ${out} ${writer}.`]);
    // Records may come from anywhere: what reads them can neither write nor send.
    terminal.dropWriteAccess();
    terminal.dropNetworkAccess();
    const report = await reportOf(records, filter, {
      ...configs,
      seed: given.seed,
      jobs: given.jobs,
      isExact: options.has("bytes"),
      namesAll: options.has("all"),
    });
    if (typeof report === "string") {
      // The right to remove the file is gone, and an empty one could be mistaken for a report.
      writer?.(given.format === "json" ? `${JSON.stringify({ error: report })}\n` : `${report}\n`);
      return printProblems(terminal, [report]);
    }
    const showsContent = options.has("show-content");
    const text = given.format === "json"
      ? visibleLines(reportJson(report, showsContent))
      : reportText(report, { showsContent, namesAll: options.has("all") });
    if (writer === null) terminal.out(text);
    else if (!writer(text)) {
      return printProblems(terminal, [`The file ${out} cannot be written whole.`]);
    }
    if (report.replayed === 0) {
      return printProblems(terminal, ["No record was replayed, so nothing was compared."]);
    }
    return isFailing(given.failOn, report) ? FAILED_STATUS : OK_STATUS;
  },
};

/** Replays the records of a text. Returns the report, or why there is none as a sentence. */
async function reportOf(
  records: RecordText,
  filter: ReplayFilter,
  options: ReplayOptions,
): Promise<Report | string> {
  try {
    const set = newRecordSet(records, filter);
    return typeof set === "string" ? set : await replaySet(set, options);
  } catch {
    // The error may quote what a client has sent.
    return "The replay has ended early, so there is no report.";
  }
}

/** The options of the command with their defaults. */
interface Given {
  readonly against: string;
  readonly config: string;
  readonly since: string | undefined;
  readonly key: string | null;
  readonly failOn: NonNullable<ReturnType<typeof parseFailOn>>;
  readonly format: string;
  readonly out: string | undefined;
  readonly seed: number;
  readonly jobs: number;
}

/** Returns the options, or the problem with them as a sentence. */
function parseOptions(options: OptionValues): Given | string {
  const against = optionValue(options, "against");
  if (against === undefined) return "--against is missing.";
  const failOn = parseFailOn(optionValue(options, "fail-on") ?? USUAL_FAIL_ON);
  if (failOn === null) return "--fail-on must be any, none, or kinds with commas, also cost:+10%.";
  const format = optionValue(options, "format") ?? "text";
  if (!FORMATS.includes(format)) return "--format must be text or json.";
  const seed = Number(optionValue(options, "seed") ?? "1");
  if (!Number.isInteger(seed) || seed < 0 || seed > MAX_SEED) {
    return `--seed must be a whole number up to ${MAX_SEED}.`;
  }
  const jobs = Number(optionValue(options, "jobs") ?? "1");
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > MAX_JOBS) {
    return `--jobs must be a whole number from 1 to ${MAX_JOBS}.`;
  }
  return {
    against,
    jobs,
    failOn,
    format,
    seed,
    config: configPath(options),
    since: optionValue(options, "since"),
    key: optionValue(options, "key") ?? null,
    out: optionValue(options, "out"),
  };
}

interface Configs {
  readonly before: Config;
  readonly after: Config;
}

/** Returns both configurations; null after their problems are printed. */
async function loadBoth({ config, against }: Given, terminal: Terminal): Promise<Configs | null> {
  const before = await load(config, terminal.environment);
  const after = await load(against, terminal.environment);
  if (!before.ok) printProblems(terminal, before.problems.map((one) => `${config}: ${one}`));
  if (!after.ok) printProblems(terminal, after.problems.map((one) => `${against}: ${one}`));
  return before.ok && after.ok ? { before: before.config, after: after.config } : null;
}

/**
 * Returns which records are replayed; null if the time is none. A time such as `2h` is before the
 * newest record, so that a file has the same report at any time.
 */
function filterOf({ since, key }: Given, { security }: Config): ReplayFilter | null {
  if (since === undefined) return { key, sinceMs: () => -Infinity };
  const calendar = newCalendar(security.time_zone);
  const sinceMs = (wallMs: number) => parseTime(since, { wallMs, calendar });
  return sinceMs(0) === null ? null : { key, sinceMs: (newest) => sinceMs(newest) ?? -Infinity };
}
