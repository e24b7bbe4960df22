import { textBeginning } from "../core/text_beginning.ts";
import { visible } from "../core/visible_text.ts";

/** Minimum level of log lines; each level includes the later ones of this list. */
export type Level = "debug" | "info" | "warn" | "error";

/** Fields of a log line in written order; undefined and null fields are omitted. */
export type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A line with its line end, or a function that formats it later, off the request path. */
export type Line = string | (() => string);

/**
 * Writes log lines. Callers must not pass prompts, response bodies, keys or URLs with credentials.
 */
export interface Log {
  debug(msg: string, fields?: Fields): void;
  info(msg: string, fields?: Fields): void;
  warn(msg: string, fields?: Fields): void;
  error(msg: string, fields?: Fields): void;
}

/** Settings of a log. The level is read for each line, so it may change. */
export interface LogSettings {
  readonly level: Level;
  readonly format: "console" | "json";
  /** True if console lines are coloured; only on a terminal. */
  readonly isColoured?: boolean;
  /** Number of the worker that logs, the last field of each line; absent with one process. */
  readonly worker?: number;
}

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** Maximum length of a text field: clients choose paths and model names. */
export const MAX_FIELD_CHARS = 1000;

/** Pattern of text without special characters: a fast test for nearly every line. */
const PLAIN = /^[\x20-\x7e]*$/;

const COLOURS: Record<Level, number> = { debug: 90, info: 36, warn: 33, error: 31 };

/** Returns the text of a line. */
export function textOf(line: Line): string {
  return typeof line === "string" ? line : line();
}

/** Returns a log that passes each line to `write`. */
export function newLog(
  settings: LogSettings,
  write: (line: Line) => void,
  clock: () => Date = () => new Date(),
): Log {
  function line(level: Level, msg: string, fields: Fields = {}) {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(settings.level)) return;
    const { format, worker } = settings;
    const all = worker === undefined ? fields : { ...fields, worker };
    const now = clock();
    write(() => {
      const time = now.toISOString();
      return format === "json"
        ? `{"time":"${time}","level":"${level}","msg":${quoted(msg)}${members(all)}}\n`
        : `${time} ${label(level)} ${shown(msg)}${pairs(all)}\n`;
    });
  }

  function label(level: Level): string {
    const word = level.toUpperCase().padEnd(5);
    return settings.isColoured === true ? `\x1b[${COLOURS[level]}m${word}\x1b[0m` : word;
  }

  return {
    debug: (msg, fields) => line("debug", msg, fields),
    info: (msg, fields) => line("info", msg, fields),
    warn: (msg, fields) => line("warn", msg, fields),
    error: (msg, fields) => line("error", msg, fields),
  };
}

/**
 * Returns the fields as JSON members. JSON.stringify of one object costs several times as much per
 * call.
 */
function members(fields: Fields): string {
  let text = "";
  // Object.entries is avoided: its list costs as much as the line.
  for (const name in fields) {
    const value = fields[name];
    if (value === null || value === undefined) continue;
    text += beginningOf(name) + (typeof value === "string" ? quoted(shortened(value)) : value);
  }
  return text;
}

/** Beginnings of members by their names, which the code and the labels of client keys have. */
const beginnings = new Map<string, string>();

/** Limit of the known beginnings: a reload may change the labels. */
const MAX_BEGINNINGS = 256;

/** Returns the beginning of a member, which would be half of the objects of a line. */
function beginningOf(name: string): string {
  const known = beginnings.get(name);
  if (known !== undefined) return known;
  const made = `,"${name}":`;
  if (beginnings.size < MAX_BEGINNINGS) beginnings.set(name, made);
  return made;
}

/** Returns the fields as `name=value` pairs; text with blanks or control characters is quoted. */
function pairs(fields: Fields): string {
  let text = "";
  for (const [name, value] of Object.entries(fields)) {
    if (value === null || value === undefined) continue;
    const shown = typeof value === "string" ? shortened(value) : String(value);
    text += ` ${name}=${/^[\x21\x23-\x7e]+$/.test(shown) ? shown : quoted(shown)}`;
  }
  return text;
}

function shortened(text: string): string {
  return text.length > MAX_FIELD_CHARS ? `${textBeginning(text, MAX_FIELD_CHARS)}…` : text;
}

function quoted(text: string): string {
  return /^[ !\x23-\x5b\x5d-\x7e]*$/.test(text) ? `"${text}"` : shown(JSON.stringify(text));
}

function shown(text: string): string {
  return PLAIN.test(text) ? text : visible(text);
}
