import { type Line, textOf } from "./log.ts";

/** Lines are gathered this many milliseconds, so that the road of a request never waits for a log. */
const GATHER = 50;

/** Most lines that wait to be made. */
const UNMADE = 256;

/** More characters than this are not kept for a reader that is too slow. */
const MOST = 4 * 1024 * 1024;

/** The end of the process waits so many milliseconds for a reader that takes nothing. */
const PATIENCE = 1_000;

/** Takes log lines without waiting. */
export interface LogWriter {
  write(line: Line): void;
  /** Resolves when every line is out, also those being written; for the end of the process. */
  flush(): Promise<void>;
}

/** What log lines are written to. */
export interface LogTarget {
  write(bytes: Uint8Array): Promise<number>;
}

/** Gathers lines and writes them in the background; lines that find no room are counted and told. */
export function newLogWriter(target: LogTarget, patience = PATIENCE): LogWriter {
  const encoder = new TextEncoder();
  let unmade: Line[] = [];
  let gathered = "";
  let dropped = 0;
  let writing: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function make() {
    const lines = unmade;
    unmade = [];
    for (const text of lines.map(textOf)) {
      if (gathered.length + text.length > MOST) dropped++;
      else gathered += text;
    }
  }

  function take(): Uint8Array {
    make();
    const bytes = encoder.encode(gathered + noteOf(dropped, gathered.startsWith("{")));
    gathered = "";
    dropped = 0;
    return bytes;
  }

  function begin(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return writing = writeAll();
  }

  async function writeAll() {
    try {
      let bytes = take();
      while (bytes.length > 0) bytes = bytes.subarray(await target.write(bytes));
    } catch {
      // Nobody reads the log any more: serving goes on.
    } finally {
      writing = null;
      if (isWaiting()) timer ??= setTimeout(begin, GATHER);
    }
  }

  function isWaiting(): boolean {
    return unmade.length > 0 || gathered !== "";
  }

  async function writeRest() {
    while (writing !== null || isWaiting()) await (writing ?? begin());
  }

  return {
    write(line) {
      unmade.push(line);
      if (unmade.length >= UNMADE) make();
      if (writing === null) timer ??= setTimeout(begin, GATHER);
    },
    async flush() {
      let late: ReturnType<typeof setTimeout> | undefined;
      const enough = new Promise<void>((resolve) => late = setTimeout(resolve, patience));
      await Promise.race([writeRest(), enough]);
      clearTimeout(late);
    },
  };
}

/** Who reads one JSON object a line must not meet anything else. */
function noteOf(dropped: number, isJson: boolean): string {
  if (dropped === 0) return "";
  const msg = `${dropped} log lines were dropped: the reader is too slow`;
  const time = new Date().toISOString();
  return isJson ? `${JSON.stringify({ time, level: "warn", msg })}\n` : `${time} WARN  ${msg}\n`;
}
