import { Cancellation } from "../core/cancellation.ts";
import type { Line } from "../observe/log.ts";
import { MAX_BUFFERED_CHARS, newLogWriter } from "../observe/log_writer.ts";

/** Access of a command to its process. */
export interface Terminal {
  /** Writes the output of a command to stdout. */
  out(text: string): void;
  /** Writes log lines and problems to stderr. */
  err(text: Line): void;
  /** Returns what is on stdin, to its end; empty if it is a terminal. */
  input(): Promise<string>;
  /**
   * Creates a file that only its owner can read. Returns null, or the reason as the predicate of a
   * sentence.
   */
  create(path: string, text: string): string | null;
  /**
   * Creates a file as `create` does, and returns the function that writes its text: false if that
   * fails. It works without the right to write files.
   */
  reserve(path: string): ((text: string) => boolean) | string;
  /**
   * Gives up the right to write files, for the rest of the process. A file that is open, such as
   * that of the state store, can still be written.
   */
  dropWriteAccess(): void;
  /** Gives up the right to start processes, for the rest of the process. */
  dropRunAccess(): void;
  /** Gives up the right to read files, for the rest of the process. */
  dropReadAccess(): void;
  /** Gives up the right to open connections, for the rest of the process. */
  dropNetworkAccess(): void;
  readonly environment: Readonly<Record<string, string>>;
  /** True if log lines may be coloured. */
  readonly isColoured: boolean;
  /** Returns the size of the terminal that stdout is; null if it is a file or a pipe. */
  size(): { readonly columns: number; readonly rows: number } | null;
  /**
   * Returns a cancellation for the stop signal. Commands that serve call it once. A second signal
   * runs `atOnce`, then ends the process.
   */
  stop(atOnce?: () => void): Cancellation;
  /** Calls the task on each reload signal. Returns an unsubscribe function. */
  onReload(task: () => void): () => void;
}

/** The terminal of a process. */
interface RealTerminal extends Terminal {
  /** Writes what is left of stderr, which is written in the background. */
  flush(): Promise<void>;
  /** True if a part of stdout was lost, as on a full disk: not if its reader has left. */
  readonly isOutputLost: boolean;
}

/** Returns the terminal of this process. Callers flush it at the end. */
export function realTerminal(): RealTerminal {
  const encoder = new TextEncoder();
  const errors = newLogWriter(Deno.stderr);
  let isOutputLost = false;
  return {
    get isOutputLost() {
      return isOutputLost;
    },
    out(text) {
      if (writeAll(Deno.stdout, encoder.encode(text)) || isOutputLost) return;
      isOutputLost = true;
      errors.write("The output cannot be written whole.\n");
    },
    err(text) {
      // More than the log writer buffers would be dropped, such as the report of a large import.
      const isLong = typeof text === "string" && text.length > MAX_BUFFERED_CHARS / 2;
      if (isLong) writeAll(Deno.stderr, encoder.encode(text));
      else errors.write(text);
    },
    input: () => Deno.stdin.isTerminal() ? Promise.resolve("") : readInput(),
    create: createFile,
    reserve: reserveFile,
    dropWriteAccess() {
      Deno.permissions.revokeSync({ name: "write" });
    },
    dropRunAccess() {
      Deno.permissions.revokeSync({ name: "run" });
    },
    dropReadAccess() {
      Deno.permissions.revokeSync({ name: "read" });
    },
    dropNetworkAccess() {
      Deno.permissions.revokeSync({ name: "net" });
    },
    environment: Deno.env.toObject(),
    isColoured: Deno.stderr.isTerminal() && !Deno.noColor,
    size: () => Deno.stdout.isTerminal() ? Deno.consoleSize() : null,
    stop: (atOnce) =>
      stopOnSignal(() => {
        atOnce?.();
        return errors.flush();
      }),
    onReload(task) {
      Deno.addSignalListener("SIGHUP", task);
      return () => Deno.removeSignalListener("SIGHUP", task);
    },
    flush: () => errors.flush(),
  };
}

/** Returns false if the bytes cannot be written, although somebody would read them. */
function writeAll(output: typeof Deno.stdout, bytes: Uint8Array): boolean {
  try {
    let rest = bytes;
    while (rest.length > 0) rest = rest.subarray(output.writeSync(rest));
    return true;
  } catch (error) {
    // The reader closes the pipe when it has enough, as `head` does.
    return error instanceof Deno.errors.BrokenPipe;
  }
}

/** Maximum length of what a command reads from stdin, in bytes. */
const MAX_INPUT_BYTES = 64 * 1024 * 1024;

async function readInput(): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of Deno.stdin.readable) {
    bytes += chunk.length;
    if (bytes > MAX_INPUT_BYTES) return "";
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function createFile(path: string, text: string): string | null {
  const file = openNew(path);
  if (typeof file === "string") return file;
  using _ = file;
  return filled(file, text) ? null : removed(path);
}

function reserveFile(path: string): ((text: string) => boolean) | string {
  const file = openNew(path);
  return typeof file === "string" ? file : (text) => {
    using _ = file;
    return filled(file, text);
  };
}

/** Opens a new file that only its owner can read; the reason as a predicate if that fails. */
function openNew(path: string): Deno.FsFile | string {
  try {
    return Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return "exists already";
    return error instanceof Deno.errors.NotCapable
      ? "may not be written by this program"
      : "cannot be written here";
  }
}

function filled(file: Deno.FsFile, text: string): boolean {
  try {
    let rest = new TextEncoder().encode(text);
    while (rest.length > 0) rest = rest.subarray(file.writeSync(rest));
    return true;
  } catch {
    return false;
  }
}

/** Removes an incomplete file, which could be mistaken for a file of the user. */
function removed(path: string): string {
  Deno.removeSync(path);
  return "cannot be written whole";
}

/**
 * Exit code for each stop signal: 128 plus the number of the signal, as in a shell. Windows has no
 * SIGTERM: consoles and service wrappers there send SIGINT or SIGBREAK.
 */
const ENDING = Deno.build.os === "windows"
  ? [["SIGINT", 130], ["SIGBREAK", 149]] as const
  : [["SIGINT", 130], ["SIGTERM", 143]] as const;

/**
 * Ignores the signals of a worker process: a service manager and a terminal send them to all
 * processes, and the parent of the workers decides what they mean.
 */
export function ignoreSignals(): void {
  for (const [name] of ENDING) Deno.addSignalListener(name, () => {});
  Deno.addSignalListener("SIGHUP", () => {});
}

function stopOnSignal(beforeExit: () => Promise<void>): Cancellation {
  const stopping = new Cancellation();
  for (const [name, code] of ENDING) {
    Deno.addSignalListener(name, async () => {
      if (!stopping.isCancelled) return stopping.cancel(null);
      await beforeExit();
      Deno.exit(code);
    });
  }
  // SIGHUP requests a reload; without a listener it would end the process.
  Deno.addSignalListener("SIGHUP", () => {});
  return stopping;
}
