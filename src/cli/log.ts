import { visible, visibleLines } from "../core/visible_text.ts";
import { recordCurl } from "../record/curl.ts";
import { dialogueOf } from "../record/dialogue.ts";
import { exportLine } from "../record/export_record.ts";
import { FILTER_NAMES, FILTER_OPTIONS } from "../record/filter_options.ts";
import { maskRecord } from "../record/prepare_record.ts";
import type { CallRecord } from "../record/record.ts";
import type { Hit } from "../record/record_file.ts";
import { MaskingTimeout } from "../record/mask_text.ts";
import type { RecordMask, RecordPolicy } from "../record/record_mask.ts";
import { recordPolicy } from "../record/record_settings.ts";
import { DEFAULT_LIMIT_RECORDS, MAX_LIMIT_RECORDS, parseNumber } from "../record/search.ts";
import { PLACE_OPTIONS } from "./admin_place.ts";
import { optionValue, type OptionValues } from "./arguments.ts";
import {
  type Command,
  CONFIG_OPTION,
  loadConfig,
  OK_STATUS,
  printProblems,
  wrongUsage,
} from "./command.ts";
import { hitLine, LOG_HEADER, recordLines } from "./log_text.ts";
import { findSource, type LogSource } from "./log_source.ts";
import type { Terminal } from "./terminal.ts";

const FORMATS = ["table", "json", "jsonl"] as const;

/** Options of both commands: where the records are. */
const SOURCE_OPTIONS = {
  config: CONFIG_OPTION,
  file: { value: "FILE", about: "The file of records; default: record.path of the configuration." },
  ...PLACE_OPTIONS,
} as const;

/** Command `switchyard log`: lists recorded calls. */
export const log: Command = {
  name: "log",
  // A SQLite database can only be opened for writing.
  writesFiles: true,
  about: "Lists recorded calls, the newest first; from the file, or from a gateway that runs.",
  options: {
    ...SOURCE_OPTIONS,
    ...FILTER_OPTIONS,
    limit: { value: "N", about: "Maximum number of records; 20 by default, at most 1000." },
    cursor: { value: "N", about: "Continues a list after the number in its last line." },
    format: {
      value: "FORMAT",
      choices: FORMATS,
      about: "table (default), json for one list, or jsonl.",
    },
    "show-text": { value: null, about: "With --text or --regex: shows the text around each hit." },
    export: {
      value: null,
      about: "Prints whole records as JSON lines, with their content and without a limit.",
    },
    content: {
      value: "none",
      choices: ["none"],
      about: "With --export: none leaves out the content.",
    },
    redact: {
      value: "POLICY",
      about: "With --export: masks what a policy of privacy finds, or credentials.",
    },
  },
  async run(options, terminal) {
    const isExport = options.has("export");
    const format = optionValue(options, "format") ?? "table";
    const usualLimit = isExport ? Infinity : DEFAULT_LIMIT_RECORDS;
    const limit = parseNumber(optionValue(options, "limit"), usualLimit);
    const cursor = parseNumber(optionValue(options, "cursor"), null);
    if (!FORMATS.some((one) => one === format)) {
      return wrongUsage(terminal, "log", "--format is table, json or jsonl.");
    }
    if (isExport && options.has("format")) {
      return wrongUsage(terminal, "log", "--format is not for --export.");
    }
    const isTable = format === "table" && !isExport;
    if (options.has("show-text") && !(isTable && (options.has("text") || options.has("regex")))) {
      return wrongUsage(terminal, "log", "--show-text is for the table, with --text or --regex.");
    }
    const content = optionValue(options, "content");
    if (content !== undefined && (content !== "none" || !isExport)) {
      return wrongUsage(terminal, "log", "--content is none, with --export.");
    }
    const mask = await exportMask(options, terminal);
    if (typeof mask === "number") return mask;
    if (limit === undefined || limit < 1) {
      return wrongUsage(terminal, "log", "--limit is a number from 1 on.");
    }
    if (!isExport && limit > MAX_LIMIT_RECORDS) {
      return wrongUsage(terminal, "log", `--limit is at most ${MAX_LIMIT_RECORDS}; see --export.`);
    }
    if (cursor === undefined) return wrongUsage(terminal, "log", "--cursor is a number.");
    const withContent = isExport && content === undefined;
    return await onSource(options, terminal, async (source) => {
      let last: Hit | null = null;
      let found = 0;
      // One more than is printed says whether there are more; of the largest list nothing does.
      const asked = isTable && limit < MAX_LIMIT_RECORDS ? limit + 1 : limit;
      let hasMore = false;
      const isList = format === "json" && !isExport;
      let records = 0;
      let unreadable = 0;
      let closed = 0;
      const printRow = (hit: Hit) => {
        terminal.out(`${found === 1 ? LOG_HEADER : ""}${hitLine(hit)}`);
        if (!options.has("show-text") || !("record" in hit) || hit.excerpt === null) return;
        terminal.out(`    ${visible(hit.excerpt)}\n`);
      };
      const printLine = (hit: Hit) => {
        if (!("record" in hit)) return void unreadable++;
        if (isList) terminal.out(records++ === 0 ? "[" : ",");
        const record = mask === null ? hit.record : maskRecord(hit.record, mask());
        terminal.out(visibleLines(exportLine(record, withContent)));
      };
      const problem = await source.search({
        limit: asked,
        before: cursor,
        withContent,
        filter: (name) => filterValue(options, name),
        onClosed: (records) => closed = records,
      }, (hit) => {
        if (found === limit) return void (hasMore = true);
        last = hit;
        found++;
        if (isTable) printRow(hit);
        else printLine(hit);
      });
      if (problem?.isUsage) return wrongUsage(terminal, "log", problem.text);
      if (problem !== null) return printProblems(terminal, [problem.text]);
      if (isTable) terminal.out(endLine(hasMore || asked === found, last));
      if (isList) terminal.out(records === 0 ? "[]\n" : "]\n");
      if (closed > 0) {
        terminal.err(`Not looked at, because they cannot be opened: ${closed} records.\n`);
      }
      if (unreadable > 0) {
        terminal.err(`Not printed, because they cannot be opened: ${unreadable} records.\n`);
      }
      return OK_STATUS;
    });
  },
};

/**
 * Returns the mask of exported records, or the exit code after its problem was printed; null if
 * `--redact` is not set. The mask throws if it takes longer than its policy allows: nothing is
 * printed unmasked.
 */
async function exportMask(
  options: OptionValues,
  terminal: Terminal,
): Promise<RecordMask | null | number> {
  const name = optionValue(options, "redact");
  if (name === undefined) return null;
  if (!options.has("export")) return wrongUsage(terminal, "log", "--redact is for --export.");
  const { newRecordMask } = await import("../record/record_mask.ts");
  const maskOf = (policy: RecordPolicy) => newRecordMask(policy, () => performance.now());
  if (name === "credentials") return maskOf(name);
  const loaded = await loadConfig(options, terminal);
  if (!loaded.ok) return printProblems(terminal, loaded.problems);
  const { config } = loaded;
  if (config.privacy.policies.some((one) => one.name === name)) {
    return maskOf(recordPolicy(name, config));
  }
  return wrongUsage(terminal, "log", "--redact is credentials or a policy of privacy.");
}

function endLine(mayHaveMore: boolean, last: Hit | null): string {
  if (last === null) return "No recorded call matches.\n";
  return mayHaveMore ? `More with --cursor ${last.seq}.\n` : "";
}

/** Part of a record that `log show` prints, by its option. */
const VIEWS: Readonly<Record<string, (record: CallRecord, source: LogSource) => string | null>> = {
  json: (record) => visibleLines(exportLine(record)),
  curl: recordCurl,
  request: ({ request }) => request?.body == null ? null : `${visibleLines(request.body)}\n`,
  response: ({ response }) => {
    const text = response?.body ?? response?.events ?? null;
    return text === null ? null : `${visibleLines(text)}\n`;
  },
  text: (record) => {
    const turns = dialogueOf(record).map(({ role, text }) =>
      `${visible(role)}:\n${visibleLines(text).replace(/^/gm, "  ")}\n`
    );
    return turns.length === 0 ? null : turns.join("\n");
  },
};

/** Command `switchyard log show ID`: prints one recorded call. */
export const logShow: Command = {
  name: "log show",
  writesFiles: true,
  about: "Prints one recorded call; its content only with one of the options.",
  word: "ID",
  options: {
    ...SOURCE_OPTIONS,
    request: { value: null, about: "Prints the body of the request." },
    response: { value: null, about: "Prints the body or the events of the response." },
    text: { value: null, about: "Prints the dialogue as lines of text." },
    curl: { value: null, about: "Prints the command that sends the request again." },
    json: { value: null, about: "Prints the whole record as one line of JSON." },
  },
  async run(options, terminal) {
    const id = optionValue(options, "ID");
    if (id === undefined) return wrongUsage(terminal, "log show", "Name the ID of a call.");
    const views = Object.entries(VIEWS).filter(([name]) => options.has(name));
    return await onSource(options, terminal, async (source) => {
      const found: Hit[] = [];
      let closed = 0;
      const problem = await source.search({
        limit: 1,
        before: null,
        withContent: views.length > 0,
        filter: (name) => name === "id" ? id : undefined,
        onClosed: (records) => closed = records,
      }, (hit) => void found.push(hit));
      if (problem !== null) return printProblems(terminal, [problem.text]);
      const [hit] = found;
      if (hit === undefined) {
        const rest = closed === 0 ? "" : ` among those that can be opened; ${closed} cannot`;
        return printProblems(terminal, [`There is no record of this call${rest}.`]);
      }
      if (!("record" in hit)) {
        return printProblems(terminal, ["The content of this record cannot be opened."]);
      }
      const { record } = hit;
      if (views.length === 0) terminal.out(recordLines(record));
      for (const [, view] of views) {
        const text = view(record, source);
        if (text === null) {
          return printProblems(terminal, ["The record of this call has no such content."]);
        }
        terminal.out(text);
      }
      return OK_STATUS;
    });
  },
};

/** Runs a task on the source of the options; prints why there is none. */
async function onSource(
  options: OptionValues,
  terminal: Terminal,
  task: (source: LogSource) => Promise<number>,
): Promise<number> {
  const found = await findSource(options, terminal);
  if (!found.ok) return printProblems(terminal, found.problems);
  try {
    return await task(found.source);
  } catch (error) {
    if (!(error instanceof MaskingTimeout)) throw error;
    return printProblems(terminal, [
      "Masking a record takes longer than privacy.max_search_time, so the export has ended.",
    ]);
  } finally {
    found.source.close();
  }
}

/** Returns the value of an option of the filter; "true" for a flag. */
function filterValue(options: OptionValues, name: typeof FILTER_NAMES[number]): string | undefined {
  if (!options.has(name)) return undefined;
  return FILTER_OPTIONS[name].value === null ? "true" : optionValue(options, name);
}
