/** How much is written: each level holds the ones behind it. */
export type Level = "debug" | "info" | "warn" | "error";

/** Fields of a log line, in the order in which they are written; undefined and null ones are left out. */
export type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Writes lines. Never give it a prompt, an answer, a key or a URL with credentials. */
export interface Log {
  debug(msg: string, fields?: Fields): void;
  info(msg: string, fields?: Fields): void;
  warn(msg: string, fields?: Fields): void;
  error(msg: string, fields?: Fields): void;
}

/** What a log needs to know. */
export interface LogSettings {
  readonly level: Level;
  readonly format: "console" | "json";
  /** Whether console lines are coloured: only on a terminal. */
  readonly isColoured?: boolean;
}

const LEVELS = ["debug", "info", "warn", "error"] as const;
const COLOURS: Record<Level, number> = { debug: 90, info: 36, warn: 33, error: 31 };

/** A log that gives each line, with its line end, to `write`. */
export function newLog(
  settings: LogSettings,
  write: (line: string) => void,
  clock: () => Date = () => new Date(),
): Log {
  const threshold = LEVELS.indexOf(settings.level);

  function line(level: Level, msg: string, fields: Fields = {}) {
    if (LEVELS.indexOf(level) < threshold) return;
    const time = clock().toISOString();
    const kept = Object.entries(fields).filter(([, value]) => (value ?? null) !== null);
    write(
      settings.format === "json"
        ? JSON.stringify({ time, level, msg, ...Object.fromEntries(kept) }) + "\n"
        : `${time} ${label(level)} ${msg}${kept.map(pair).join("")}\n`,
    );
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

/** Text with blanks or control characters is quoted, so that a line stays one line. */
function pair([key, value]: readonly [string, unknown]): string {
  const text = String(value);
  return ` ${key}=${/^[\x21\x23-\x7e]+$/.test(text) ? text : JSON.stringify(text)}`;
}
