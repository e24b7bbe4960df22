import { type Line, textOf } from "./log.ts";

/** Time for which lines are buffered, so that no request waits for the log. */
const BUFFER_MS = 50;

/** Maximum number of buffered lines that are not formatted yet. */
const MAX_UNFORMATTED_LINES = 256;

/** Maximum number of buffered characters; beyond it lines are dropped. */
export const MAX_BUFFERED_CHARS = 4 * 1024 * 1024;

/** Time limit of the flush at shutdown, for a reader that is blocked. */
const FLUSH_TIMEOUT_MS = 1_000;

/**
 * Returns a writer that buffers lines and writes them in the background. Lines beyond the buffer
 * limit are dropped; their number is logged.
 */
export function newLogWriter(
  target: { write(bytes: Uint8Array): Promise<number> },
  flushTimeoutMs = FLUSH_TIMEOUT_MS,
) {
  const encoder = new TextEncoder();
  let unformatted: Line[] = [];
  let gathered = "";
  let dropped = 0;
  let writing: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function formatLines() {
    const lines = unformatted;
    unformatted = [];
    for (const text of lines.map(textOf)) {
      if (gathered.length + text.length > MAX_BUFFERED_CHARS) dropped++;
      else gathered += text;
    }
  }

  function take(): Uint8Array {
    formatLines();
    const bytes = encoder.encode(gathered + droppedNote(dropped, gathered.startsWith("{")));
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
      // The log has no reader any more: the gateway continues to serve.
    } finally {
      writing = null;
      if (isWaiting()) timer ??= setTimeout(begin, BUFFER_MS);
    }
  }

  function isWaiting(): boolean {
    return unformatted.length > 0 || gathered !== "";
  }

  async function writeRest() {
    while (writing !== null || isWaiting()) await (writing ?? begin());
  }

  return {
    write(line: Line): void {
      unformatted.push(line);
      if (unformatted.length >= MAX_UNFORMATTED_LINES) formatLines();
      if (writing === null) timer ??= setTimeout(begin, BUFFER_MS);
    },
    /** Resolves when all buffered lines are written; for the end of the process. */
    async flush(): Promise<void> {
      let late: ReturnType<typeof setTimeout> | undefined;
      const enough = new Promise<void>((resolve) => late = setTimeout(resolve, flushTimeoutMs));
      await Promise.race([writeRest(), enough]);
      clearTimeout(late);
    },
  };
}

/**
 * Returns the line about dropped lines, in the format of the log: each line of a JSON log is an
 * object.
 */
function droppedNote(dropped: number, isJson: boolean): string {
  if (dropped === 0) return "";
  const msg = `${dropped} log lines were dropped: the reader is too slow`;
  const time = new Date().toISOString();
  return isJson ? `${JSON.stringify({ time, level: "warn", msg })}\n` : `${time} WARN  ${msg}\n`;
}
