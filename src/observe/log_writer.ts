/** Lines are gathered this many milliseconds, so that the road of a request never waits for a log. */
const GATHER = 50;

/** More characters than this are not kept for a reader that is too slow. */
const MOST = 4 * 1024 * 1024;

/** Takes log lines without waiting. */
export interface LogWriter {
  write(line: string): void;
  /** Writes what is gathered, now; for the end of the process. */
  flush(): void;
}

/** What log lines are written to. */
export interface LogTarget {
  write(bytes: Uint8Array): Promise<number>;
  writeSync(bytes: Uint8Array): number;
}

/** Gathers lines and writes them in the background; lines that find no room are counted and told. */
export function logWriter(target: LogTarget): LogWriter {
  const encoder = new TextEncoder();
  let gathered = "";
  let dropped = 0;
  let isWriting = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function take(): Uint8Array {
    const bytes = encoder.encode(gathered + noteOf(dropped, gathered.startsWith("{")));
    gathered = "";
    dropped = 0;
    return bytes;
  }

  async function writeAll() {
    timer = undefined;
    isWriting = true;
    try {
      let bytes = take();
      while (bytes.length > 0) bytes = bytes.subarray(await target.write(bytes));
    } catch {
      // Nobody reads the log any more: serving goes on.
    } finally {
      isWriting = false;
      if (gathered !== "") timer ??= setTimeout(writeAll, GATHER);
    }
  }

  return {
    write(line) {
      if (gathered.length + line.length > MOST) {
        dropped++;
        return;
      }
      gathered += line;
      if (!isWriting) timer ??= setTimeout(writeAll, GATHER);
    },
    flush() {
      clearTimeout(timer);
      timer = undefined;
      try {
        let bytes = take();
        while (bytes.length > 0) bytes = bytes.subarray(target.writeSync(bytes));
      } catch {
        // As above.
      }
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
