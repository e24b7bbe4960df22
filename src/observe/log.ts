/** How much is written: each level holds the ones behind it. */
export type Level = "debug" | "info" | "warn" | "error";

/** Fields of a log line, in the order in which they are written; undefined and null ones are left out. */
export type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** A line with its line end, or what makes it when it is written: by then the answer is out. */
export type Line = string | (() => string);

/** Writes lines. Never give it a prompt, an answer, a key or a URL with credentials. */
export interface Log {
  debug(msg: string, fields?: Fields): void;
  info(msg: string, fields?: Fields): void;
  warn(msg: string, fields?: Fields): void;
  error(msg: string, fields?: Fields): void;
}

/** What a log needs to know. The level is looked at for each line, so it may change. */
export interface LogSettings {
  readonly level: Level;
  readonly format: "console" | "json";
  /** Whether console lines are coloured: only on a terminal. */
  readonly isColoured?: boolean;
}

const LEVELS = ["debug", "info", "warn", "error"] as const;
/** A longer text is cut to so many characters: clients choose paths and the names of models. */
const LONGEST = 1000;

/** Nearly every line, told quickly. */
const PLAIN = /^[\x20-\x7e]*$/;

/** What would end a line, move its text about or speak to a terminal. */
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const COLOURS: Record<Level, number> = { debug: 90, info: 36, warn: 33, error: 31 };

/** The text of a line. */
export function textOf(line: Line): string {
  return typeof line === "string" ? line : line();
}

/** A log that gives each line to `write`. */
export function newLog(
  settings: LogSettings,
  write: (line: Line) => void,
  clock: () => Date = () => new Date(),
): Log {
  function line(level: Level, msg: string, fields: Fields = {}) {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(settings.level)) return;
    const { format } = settings;
    const now = clock();
    write(() => {
      const time = now.toISOString();
      return format === "json"
        ? `{"time":"${time}","level":"${level}","msg":${quoted(msg)}${members(fields)}}\n`
        : `${time} ${label(level)} ${visible(msg)}${pairs(fields)}\n`;
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

/** Written by hand: the whole as one object costs several times as much, at every call. */
function members(fields: Fields): string {
  let text = "";
  // No list of pairs is made: that alone costs as much as the line.
  for (const name in fields) {
    const value = fields[name];
    if (value === null || value === undefined) continue;
    text += `,"${name}":${typeof value === "string" ? quoted(shortened(value)) : value}`;
  }
  return text;
}

/** Text with blanks or control characters is quoted, so that a line stays one line. */
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
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

function quoted(text: string): string {
  return /^[ !\x23-\x5b\x5d-\x7e]*$/.test(text) ? `"${text}"` : visible(JSON.stringify(text));
}

/** JSON escapes only some of the characters that nobody sees. */
function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSEEN, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
