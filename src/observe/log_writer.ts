/** Lines are gathered this many milliseconds, so that the road of a request never waits for a log. */
const GATHER = 50;

/** More characters than this are not kept for a reader that is too slow. */
const MOST = 4 * 1024 * 1024;

/** The end of the process waits so many milliseconds for a reader that takes nothing. */
const PATIENCE = 1_000;

/** Takes log lines without waiting. */
export interface LogWriter {
  write(line: string): void;
  /** Resolves when every line is out, also those being written; for the end of the process. */
  flush(): Promise<void>;
}

/** What log lines are written to. */
export interface LogTarget {
  write(bytes: Uint8Array): Promise<number>;
}

/** Gathers lines and writes them in the background; lines that find no room are counted and told. */
export function logWriter(target: LogTarget, patience = PATIENCE): LogWriter {
  const encoder = new TextEncoder();
  let gathered = "";
  let dropped = 0;
  let writing: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function take(): Uint8Array {
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
      if (gathered !== "") timer ??= setTimeout(begin, GATHER);
    }
  }

  async function writeRest() {
    while (writing !== null || gathered !== "") await (writing ?? begin());
  }

  return {
    write(line) {
      if (gathered.length + line.length > MOST) {
        dropped++;
        return;
      }
      gathered += line;
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
