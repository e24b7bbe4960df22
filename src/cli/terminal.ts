import { Cancellation } from "../core/cancellation.ts";
import type { Line } from "../observe/log.ts";
import { newLogWriter } from "../observe/log_writer.ts";

/** What a command may touch of the process that runs it. */
export interface Terminal {
  /** Writes what the user asked for. */
  out(text: string): void;
  /** Writes log lines and what went wrong. */
  err(text: Line): void;
  /** Writes a file that is not there yet, for its owner alone; the end of a sentence when it cannot. */
  create(path: string, text: string): string | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether log lines may be coloured. */
  readonly isColoured: boolean;
  /** Cancelled when the program shall end. Only commands that serve call it, once. */
  stop(): Cancellation;
  /** Runs the task whenever the program shall read its configuration again; the result takes it back. */
  onReload(task: () => void): () => void;
}

/** The terminal of this process. Flush it before the process ends: errors are written in the background. */
export function realTerminal(): Terminal & { flush(): Promise<void> } {
  const encoder = new TextEncoder();
  const errors = newLogWriter(Deno.stderr);
  return {
    out(text) {
      writeAll(encoder.encode(text));
    },
    err: (text) => errors.write(text),
    create: createFile,
    environment: Deno.env.toObject(),
    isColoured: Deno.stderr.isTerminal() && !Deno.noColor,
    stop: () => stopOnSignal(() => errors.flush()),
    onReload(task) {
      Deno.addSignalListener("SIGHUP", task);
      return () => Deno.removeSignalListener("SIGHUP", task);
    },
    flush: () => errors.flush(),
  };
}

function writeAll(bytes: Uint8Array): void {
  try {
    let rest = bytes;
    while (rest.length > 0) rest = rest.subarray(Deno.stdout.writeSync(rest));
  } catch {
    // The reader has gone, as `head` does.
  }
}

function createFile(path: string, text: string): string | null {
  try {
    using file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
    return filled(file, text) ? null : removed(path);
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

/** Half a file would be taken for one of the user's. */
function removed(path: string): string {
  Deno.removeSync(path);
  return "cannot be written whole";
}

/** What the shell says of a process that a signal has ended: 128 and the number of the signal. */
const ENDING = [["SIGINT", 130], ["SIGTERM", 143]] as const;

function stopOnSignal(beforeExit: () => Promise<void>): Cancellation {
  const stopping = new Cancellation();
  for (const [name, code] of ENDING) {
    Deno.addSignalListener(name, async () => {
      if (!stopping.isCancelled) return stopping.cancel(null);
      await beforeExit();
      Deno.exit(code);
    });
  }
  // It asks for a reload, also of a program that has nothing to reload: it must not end the process.
  Deno.addSignalListener("SIGHUP", () => {});
  return stopping;
}
