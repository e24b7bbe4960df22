import { Cancellation } from "../../src/core/cancellation.ts";
import { run } from "../../src/cli/run.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { textOf } from "../../src/observe/log.ts";

/** A terminal that stores its output and reports when a text was written. */
export interface TestTerminal extends Terminal {
  readonly written: { readonly out: string; readonly err: string };
  /** Files that the command has written, by path. */
  readonly files: Map<string, string>;
  /** False once the command has given up the right to write files. */
  readonly mayWrite: boolean;
  /** False once the command has given up the right to start processes. */
  readonly mayRun: boolean;
  /** False once the command has given up the right to read files. */
  readonly mayRead: boolean;
  /** False once the command has given up the right to open connections. */
  readonly mayConnect: boolean;
  /** Resolves with the match once both outputs together hold it. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends SIGTERM. */
  end(): void;
  /** Sends SIGHUP. */
  reload(): void;
}

/** Output, files and exit code of a command. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A terminal with these environment variables alone. */
export function testTerminal(
  environment: Readonly<Record<string, string>> = {},
  input = "",
): TestTerminal {
  const written = { out: "", err: "" };
  const waiting = new Set<() => void>();
  const files = new Map<string, string>();
  const stopping = new Cancellation();
  const reloads = new Set<() => void>();
  let mayWrite = true;
  let mayRun = true;
  let mayRead = true;
  let mayConnect = true;

  function add(where: "out" | "err", text: string) {
    written[where] += text;
    for (const look of [...waiting]) look();
  }

  return {
    written,
    environment,
    isColoured: false,
    size: () => null,
    input: () => Promise.resolve(input),
    out: (text) => add("out", text),
    err: (line) => add("err", textOf(line)),
    create(path, text) {
      if (files.has(path)) return "exists already";
      files.set(path, text);
      return null;
    },
    reserve(path) {
      if (files.has(path)) return "exists already";
      files.set(path, "");
      return (text) => files.set(path, text).has(path);
    },
    files,
    get mayWrite() {
      return mayWrite;
    },
    dropWriteAccess() {
      mayWrite = false;
    },
    dropRunAccess() {
      mayRun = false;
    },
    dropReadAccess() {
      mayRead = false;
    },
    get mayRead() {
      return mayRead;
    },
    get mayRun() {
      return mayRun;
    },
    dropNetworkAccess() {
      mayConnect = false;
    },
    get mayConnect() {
      return mayConnect;
    },
    stop: () => stopping,
    end: () => stopping.cancel(null),
    onReload(task) {
      reloads.add(task);
      return () => void reloads.delete(task);
    },
    reload() {
      for (const task of reloads) task();
    },
    printed(pattern) {
      return new Promise((resolve) => {
        function look() {
          const found = pattern.exec(written.out) ?? pattern.exec(written.err);
          if (found === null) return;
          waiting.delete(look);
          resolve(found);
        }
        waiting.add(look);
        look();
      });
    },
  };
}

/** Runs a command that ends by itself. */
export async function ran(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  input = "",
): Promise<Ran> {
  const terminal = testTerminal(environment, input);
  const code = await run(args, terminal);
  return { code, ...terminal.written };
}

/** Runs a serving command while `use` works with the terminal, then signals it to end. */
export async function whileServing(
  args: readonly string[],
  use: (terminal: TestTerminal) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const terminal = testTerminal(environment);
  const running = run(args, terminal);
  try {
    await use(terminal);
  } finally {
    terminal.end();
  }
  return { code: await running, ...terminal.written };
}

/**
 * A configuration file that is gone when the test is over. It has its own folder: a gateway that
 * watches it would read it again with each file that another test creates next to it.
 */
export async function configFile(text: string): Promise<{ readonly path: string } & Disposable> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/config.yaml`;
  await Deno.writeTextFile(path, text);
  return { path, [Symbol.dispose]: () => Deno.removeSync(folder, { recursive: true }) };
}

/** A client whose connections end with it. */
export function testClient(): Disposable & {
  fetch(url: string, init?: RequestInit): Promise<Response>;
} {
  const client = Deno.createHttpClient({});
  return {
    fetch: (url, init = {}) => fetch(url, { ...init, client }),
    [Symbol.dispose]: () => client.close(),
  };
}
