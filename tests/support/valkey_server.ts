import { type RespReply, sendCommand } from "./resp_client.ts";
import { findValkeyBinary } from "../../scripts/tools/valkey_binary.ts";

/** A running Valkey server on loopback that stores nothing on disk. */
export interface ValkeyServer {
  readonly port: number;
  readonly url: string;
  /** Sends one command on a new connection; an error of the server is thrown. */
  command(...parts: string[]): Promise<RespReply>;
  /** Stops the process, which keeps its connections and answers nothing. */
  pause(): Promise<void>;
  resume(): void;
  /** Kills the process as `kill -9` does. */
  kill(): Promise<void>;
  /** Starts an empty server on the same port after `kill`. */
  restart(): Promise<void>;
  /** Ends the process and releases everything. */
  close(): Promise<void>;
}

const binary = await findValkeyBinary();

/** Longest wait for a condition in milliseconds: only a failing test needs it. */
const DEADLINE_MS = 20_000;

/** Options of a server in a test. */
export interface ServerOptions {
  /** Further arguments of the program. */
  readonly args?: readonly string[];
  readonly port?: number;
  /** Path of a configuration file, which names the port; `--bind` and `--port` are left out. */
  readonly file?: string;
  /** Credentials for `command`. */
  readonly auth?: readonly string[];
}

/** True if there is a server, so that suites of tests can be registered. */
export const HAS_SERVER = binary.kind === "found";

/**
 * Registers a test that needs a server. Without one it is ignored with the reason, and it fails
 * where `CI` is `true`.
 */
export function valkeyTest(name: string, run: (context: Deno.TestContext) => Promise<void>): void {
  if (binary.kind === "found") Deno.test(name, run);
  else if (Deno.env.get("CI") === "true") {
    const { reason } = binary;
    Deno.test(name, () => Promise.reject(new Error(`this test needs a server: ${reason}`)));
  } else Deno.test({ name: `${name} (ignored: ${binary.reason})`, ignore: true, fn: run });
}

/**
 * Starts a server at the top of a test file, for all of its tests. Without a program it returns one
 * that answers nothing: its tests are not run.
 */
export async function sharedValkeyServer(options: ServerOptions = {}): Promise<ValkeyServer> {
  return binary.kind === "found" ? await startValkeyServer(options) : {
    port: 0,
    url: "",
    command: () => Promise.resolve(null),
    pause: () => Promise.resolve(),
    resume() {},
    kill: () => Promise.resolve(),
    restart: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** Starts a server and waits until it answers. */
export async function startValkeyServer(
  { args = [], port = freePort(), auth = [], file }: ServerOptions = {},
): Promise<ValkeyServer> {
  if (binary.kind === "missing") throw new Error(binary.reason);
  const program = binary.path;
  const place = ["--port", `${port}`, "--bind", "127.0.0.1"];
  const options = [...place, "--save", "", "--appendonly", "no"];
  const everyArgument = [...(file === undefined ? options : [file]), ...args];
  let child = spawn(program, everyArgument);
  await waitUntilReady();

  function command(...parts: string[]): Promise<RespReply> {
    return sendCommand(port, parts, auth);
  }

  async function waitUntilReady(): Promise<void> {
    await until(() => command("PING").then((reply) => reply === "PONG", isUsable));
  }

  async function pid(): Promise<number> {
    return Number(/process_id:(\d+)/.exec(String(await command("INFO", "server")))?.[1]);
  }

  let paused: number | null = null;
  let ended: Deno.ChildProcess | null = null;

  /** Does nothing if the server has ended, as after a test that fails during its outage. */
  async function end(): Promise<void> {
    if (ended === child) return;
    ended = child;
    // The shell kills the server when its input ends, also if the tests themselves are killed.
    child.ref();
    await child.stdin.close();
    await child.status;
  }

  return {
    port,
    url: `valkey://127.0.0.1:${port}/0`,
    command,
    async pause() {
      paused = await pid();
      Deno.kill(paused, "SIGSTOP");
    },
    resume() {
      if (paused !== null) Deno.kill(paused, "SIGCONT");
      paused = null;
    },
    kill: end,
    async restart() {
      child = spawn(program, everyArgument);
      await waitUntilReady();
    },
    close: end,
  };
}

/** True if the error is one of a server that runs. */
function isUsable(error: Error): boolean {
  return /^(NOAUTH|NOPERM|WRONGPASS|DENIED)/.test(error.message);
}

function spawn(program: string, args: readonly string[]): Deno.ChildProcess {
  const script = '"$0" "$@" </dev/null & server=$!; read -r _; kill -9 $server; wait $server';
  const child = new Deno.Command("sh", {
    args: ["-c", script, program, ...args],
    cwd: "/",
    stdin: "piped",
    stdout: "null",
    stderr: "null",
  }).spawn();
  child.unref();
  return child;
}

/**
 * Ports below those that the system gives to connections and to listeners on port 0: one of these
 * could have a port again before the server that it is for.
 */
const FIRST_PORT = 20_000, PORTS_COUNT = 12_000;

let portsGiven = Math.floor(Math.random() * PORTS_COUNT);

/**
 * Returns a port of loopback that no program uses, and another one at each call: servers that start
 * together do not listen yet.
 */
export function freePort(): number {
  for (;;) {
    const port = FIRST_PORT + ++portsGiven % PORTS_COUNT;
    try {
      using _listener = Deno.listen({ hostname: "127.0.0.1", port });
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}

/** Waits until the condition holds; fails after a generous deadline. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + DEADLINE_MS;
  while (!await condition()) {
    if (performance.now() > end) throw new Error("the condition does not hold after the deadline");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
