import { TextLineStream } from "./lines.ts";
import manifest from "../../deno.json" with { type: "json" };
import { PERMISSIONS } from "../packaging/permissions.ts";
import { configText } from "./config.ts";
import { endAtOnce } from "../tools/interrupt.ts";

const ROOT = new URL("../../", import.meta.url);
const REAL_WORLD = new URL("src/cli/real_world.ts", ROOT).href;
const COUNTED_WORLD = new URL("counted_world.ts", import.meta.url).href;

/** Start of the line with the figures of the process, by `counted_world.ts`. */
export const PROBE_MARK = "soak-probe ";

/** What the gateway process holds at one moment. */
export interface Holdings {
  /** Timers of the runtime that have been set and have not fired. */
  readonly timers: number;
  /** Tasks that wait in the gateway's clock: timeouts of calls, connections and stored objects. */
  readonly tasks: number;
  /** Bytes of objects and of buffers after a garbage collection, without compiled code. */
  readonly liveBytes: number;
  /** Bytes of compiled code. */
  readonly codeBytes: number;
  readonly residentBytes: number;
  /** Open file descriptors. */
  readonly descriptors: number;
  /** Those of the descriptors that are sockets. */
  readonly sockets: number;
}

/** A gateway that runs as a separate process. */
export interface GatewayProcess {
  readonly url: string;
  /** Writes a changed configuration, or this text, and requests a reload. */
  reload(text: string): Promise<void>;
  holdings(): Promise<Holdings>;
  /** Lines of the log that report a bug of the gateway. */
  readonly complaints: readonly string[];
  /** Ends the gateway as an operator does. Returns its exit code. */
  stop(): Promise<number>;
}

/**
 * Returns the arguments of Deno that run the sources with `counted_world.ts` in place of the real
 * world, by an import map in `folder`: on SIGUSR2 the program writes its figures behind
 * `PROBE_MARK` to stderr.
 */
export async function probedProgram(folder: string): Promise<readonly string[]> {
  const importMap = `${folder}/import_map.json`;
  await Deno.writeTextFile(
    importMap,
    JSON.stringify({
      imports: { ...manifest.imports, [REAL_WORLD]: COUNTED_WORLD },
      scopes: { [COUNTED_WORLD]: { [REAL_WORLD]: REAL_WORLD } },
    }),
  );
  const main = new URL("main.ts", ROOT).pathname;
  return ["run", ...PERMISSIONS, `--import-map=${importMap}`, "--v8-flags=--expose-gc", main];
}

/**
 * Starts the gateway from its sources over the simulator at `upstream`, with files in `folder`.
 * `started` ends it if it still runs.
 */
export async function startGateway(
  upstream: string,
  folder: string,
  started: AsyncDisposableStack,
): Promise<GatewayProcess> {
  const path = `${folder}/soak.yaml`;
  await Deno.writeTextFile(path, configText(upstream, 0));
  const args = [...await probedProgram(folder), "--config", path];
  if (started.disposed) throw new Error("The soak is over.");
  const child = new Deno.Command(Deno.execPath(), {
    args,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  started.defer(() => endAtOnce(child));
  const complaints: string[] = [];
  const probes: PromiseWithResolvers<string>[] = [];
  let exitCode: number | null = null;
  const address = Promise.withResolvers<string>();

  function readLine(line: string) {
    const [, url] = /listens on (http[^\s"]+)/.exec(line) ?? [];
    if (url !== undefined) address.resolve(url);
    if (line.startsWith(PROBE_MARK)) return probes.shift()?.resolve(line.slice(PROBE_MARK.length));
    if (isComplaint(line)) complaints.push(line);
  }

  async function readLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    for await (const line of linesOf(stream)) readLine(line);
    address.reject(new Error(`The gateway ended before it listened: ${complaints.join("\n")}`));
  }

  const read = [readLines(child.stdout), readLines(child.stderr)];
  child.status.then(({ code }) => {
    exitCode = code;
    for (const probe of probes.splice(0)) probe.reject(new Error("The gateway has ended."));
  });
  const url = await address.promise;

  async function holdings(): Promise<Holdings> {
    if (exitCode !== null) throw new Error(`The gateway has ended with exit code ${exitCode}.`);
    const answered = Promise.withResolvers<string>();
    probes.push(answered);
    child.kill("SIGUSR2");
    const { timers, tasks, live, code, rss } = JSON.parse(await answered.promise);
    const links = descriptorsOf(child.pid);
    return {
      timers,
      tasks,
      liveBytes: live,
      codeBytes: code,
      residentBytes: rss,
      descriptors: links.length,
      sockets: links.filter((link) => link.startsWith("socket:")).length,
    };
  }

  return {
    url: url.replace(/\/$/, ""),
    async reload(text) {
      await Deno.writeTextFile(path, text);
      if (exitCode === null) child.kill("SIGHUP");
    },
    holdings,
    complaints,
    async stop() {
      if (exitCode === null) child.kill("SIGTERM");
      const { code } = await child.status;
      await Promise.allSettled(read);
      return code;
    },
  };
}

/**
 * True if a line reports an error of the gateway: a thrown one, or any at this level but the
 * problems of a configuration that the soak has broken.
 */
export function isComplaint(line: string): boolean {
  if (/internal_error|Uncaught|panicked|^\s+at /.test(line)) return true;
  return line.includes('"level":"error"') &&
    !/\(line \d+, column \d+\)"|configuration not reloaded/.test(line);
}

/** Returns the lines of an output. */
export function linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStream<string> {
  return stream.pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream());
}

function descriptorsOf(pid: number): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  return [...Deno.readDirSync(folder)].flatMap(({ name }) => {
    try {
      return [Deno.readLinkSync(`${folder}/${name}`)];
    } catch {
      return [];
    }
  });
}
