import { type Program, program } from "../cli/program.ts";
import { configFile, testClient, whileServing } from "../cli/test_terminal.ts";
import { until } from "../support/valkey_server.ts";

/** The program with several workers before the simulator. */
export interface RunningWorkers extends Program {
  readonly url: string;
  /** Path of its configuration file. */
  readonly path: string;
  /** Process IDs of both workers, as the log last said. */
  pids(): readonly [first: number, second: number];
  /** Kills a worker as `kill -9` does. */
  killWorker(number: 1 | 2): void;
  /** The log so far. */
  log(): string;
  /** Resolves once the log has this many matches. */
  logged(pattern: RegExp, count?: number): Promise<void>;
  /** Sends a request on a new connection and returns its response with the text of its body. */
  send(
    path: string,
    init?: RequestInit,
  ): Promise<{ readonly status: number; readonly text: string }>;
  /** Begins a stream on a new connection; resolves with its text, or null if it breaks. */
  stream(model: string): Promise<{ readonly text: Promise<string | null> }>;
  /** Returns the value of a series of `GET /metrics`; NaN without it. */
  metric(series: string): Promise<number>;
  /** Resolves with the exit code and the whole log. */
  ended(): Promise<readonly [code: number, log: string]>;
}

/** Returns the text of a configuration with this upstream. */
export type ConfigOf = (upstream: string) => string;

/** A configuration of two workers with these server settings, and more sections. */
export function twoWorkers(settings = "", more = "state: {store: none}"): ConfigOf {
  return (upstream) => `
server: {port: 0, workers: 2${settings}}
${more}
providers: {sim: {type: compat, base_url: "${upstream}"}}
routing: {routes: [{name: all, targets: [{provider: sim}]}]}
`;
}

/** Runs the program until the test has used it; the test ends it with a signal. */
export async function withWorkers(
  config: ConfigOf,
  use: (running: RunningWorkers) => Promise<void>,
): Promise<void> {
  await whileServing(["simulate", "--port", "0"], async (simulated) => {
    const [, upstream = ""] = await simulated.printed(/compat +(http\S+)\n/);
    using file = await configFile(config(upstream));
    using clients = new DisposableStack();
    const running = program(["--config", file.path, "--log-level", "debug"]);
    const { child, out, err } = running;
    let log = "";
    // Read from the beginning, so that a full pipe never holds the program up.
    const reading = err.until(/(?!)/, (more) => void (log += more));
    const [, url] = await out.until(/listens on (\S+)/) ?? [];
    if (url === undefined) {
      await Promise.all([child.status, reading]);
      throw new Error(`the program has ended before it listened: ${log}`);
    }
    await until(() => [1, 2].every((worker) => log.includes(`worker listens worker=${worker} `)));
    const fresh = () => clients.use(testClient());

    async function send(path: string, init: RequestInit = {}) {
      using client = testClient();
      const response = await client.fetch(url + path, init);
      return { status: response.status, text: await response.text() };
    }

    function pid(worker: number): number {
      const lines = [
        ...log.matchAll(new RegExp(`worker listens worker=${worker} pid=(\\d+)`, "g")),
      ];
      const found = Number(lines.at(-1)?.[1]);
      // Process 0 would be the group of the tests themselves.
      if (!(found > 1)) throw new Error(`the log has no process of worker ${worker}`);
      return found;
    }

    try {
      await use({
        ...running,
        url,
        path: file.path,
        log: () => log,
        pids: () => [pid(1), pid(2)],
        killWorker: (number) => Deno.kill(pid(number), "SIGKILL"),
        async logged(pattern, count = 1) {
          const each = new RegExp(pattern, "g");
          let searched = -1;
          await until(() => {
            // The log is searched again only once it is longer.
            if (searched === log.length) return false;
            searched = log.length;
            return (log.match(each)?.length ?? 0) >= count;
          });
        },
        send,
        async stream(model) {
          const messages = [{ role: "user", content: "one two three four five six seven eight" }];
          const response = await fresh().fetch(`${url}/v1/chat/completions`, {
            method: "POST",
            body: JSON.stringify({ model, stream: true, messages }),
          });
          return { text: response.text().catch(() => null) };
        },
        async metric(series) {
          const { text } = await send("/metrics");
          const line = text.split("\n").find((each) => each.startsWith(`${series} `));
          return Number(line?.slice(series.length + 1) ?? NaN);
        },
        async ended() {
          const { code } = await child.status;
          await Promise.all([out.rest(), reading]);
          return [code, log];
        },
      });
    } finally {
      killIfRunning(child);
      await Promise.all([child.status, out.rest(), reading]);
    }
  });
}

function killIfRunning(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // The test has ended it, as it should.
  }
}

/** True while a process exists that has not been waited for. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}
