import { TextLineStream } from "./lines.ts";
import manifest from "../../deno.json" with { type: "json" };
import { PERMISSIONS } from "../packaging/permissions.ts";
import { configText, type Setting } from "./config.ts";
import { processTree } from "../bench/processes.ts";
import { endAtOnce } from "../tools/interrupt.ts";
import { v8Flags, v8Options } from "../packaging/v8_flags.ts";

const ROOT = new URL("../../", import.meta.url);
const MAIN = new URL("main.ts", ROOT).href;
const REAL_WORLD = new URL("src/cli/real_world.ts", ROOT).href;
const COUNTED_WORLD = new URL("counted_world.ts", import.meta.url).href;

/** Start of the line with the figures of the process, by `counted_world.ts`. */
export const PROBE_MARK = "soak-probe ";

/**
 * Memory and handles of the gateway at one moment, of its parent process and its workers together.
 */
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

/** Content of a line that a process writes behind `PROBE_MARK`. */
interface Probe {
  readonly pid: number;
  readonly timers: number;
  readonly tasks: number;
  readonly live: number;
  readonly code: number;
  readonly rss: number;
}

/** A gateway that runs as a separate process, with its workers as children. */
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

/** Flag of the engine with which a probe collects garbage first. */
const GC_FLAG = "--expose-gc";

/**
 * Returns the arguments of Deno that run the sources with `counted_world.ts` in place of the real
 * world: on SIGUSR2 the program writes its figures behind `PROBE_MARK` to stderr. The import map is
 * in the manifest of `folder`, as is a module that imports the program: workers find it there too.
 */
export async function probedProgram(folder: string): Promise<readonly string[]> {
  const { unstable, nodeModulesDir } = manifest;
  await Deno.writeTextFile(
    `${folder}/deno.json`,
    JSON.stringify({
      imports: { ...manifest.imports, [REAL_WORLD]: COUNTED_WORLD },
      scopes: { [COUNTED_WORLD]: { [REAL_WORLD]: REAL_WORLD } },
      lock: { path: new URL("deno.lock", ROOT).pathname, frozen: true },
      unstable,
      nodeModulesDir,
    }),
  );
  const main = `${folder}/main.ts`;
  await Deno.writeTextFile(main, `import ${JSON.stringify(MAIN)};\n`);
  return ["run", ...PERMISSIONS, ...v8Options(Deno.version.deno, [GC_FLAG]), main];
}

/**
 * Starts the gateway from its sources, with files in `folder`. `started` ends it if it still runs.
 */
export async function startGateway(
  setting: Setting,
  folder: string,
  started: AsyncDisposableStack,
): Promise<GatewayProcess> {
  const path = `${folder}/soak.yaml`;
  await Deno.writeTextFile(path, configText(setting, 0));
  const args = [...await probedProgram(folder), "--config", path];
  if (started.disposed) throw new Error("The soak is over.");
  const child = new Deno.Command(Deno.execPath(), {
    args,
    // Workers get the flags from the environment.
    env: { DENO_V8_FLAGS: [...v8Flags(Deno.version.deno), GC_FLAG].join(",") },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  started.defer(() => endAtOnce(child));
  const complaints: string[] = [];
  let lastLine = "";
  const probes = new Map<number, PromiseWithResolvers<Probe>>();
  let exitCode: number | null = null;
  const address = Promise.withResolvers<string>();

  function readLine(line: string) {
    lastLine = line;
    const [, url] = /listens on (http[^\s"]+)/.exec(line) ?? [];
    if (url !== undefined) address.resolve(url);
    if (line.startsWith(PROBE_MARK)) {
      const probe: Probe = JSON.parse(line.slice(PROBE_MARK.length));
      return probes.get(probe.pid)?.resolve(probe);
    }
    if (isComplaint(line)) complaints.push(line);
  }

  async function readLines(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    for await (const line of linesOf(stream)) readLine(line);
  }

  const read = [readLines(child.stdout), readLines(child.stderr)];
  Promise.all(read).then(() => {
    address.reject(new Error(`The gateway ended before it listened: ${lastLine}`));
  }, address.reject);
  child.status.then(({ code }) => {
    exitCode = code;
    for (const probe of probes.values()) probe.reject(new Error("The gateway has ended."));
  });
  const url = await address.promise;

  async function holdings(): Promise<Holdings> {
    if (exitCode !== null) throw new Error(`The gateway has ended with exit code ${exitCode}.`);
    const pids = processTree(child.pid);
    const answers = await Promise.all(pids.map((pid) => {
      const answer = Promise.withResolvers<Probe>();
      probes.set(pid, answer);
      Deno.kill(pid, "SIGUSR2");
      return answer.promise;
    }));
    const sum = (name: keyof Probe) => answers.reduce((total, each) => total + each[name], 0);
    const links = pids.flatMap(descriptorsOf);
    return {
      timers: sum("timers"),
      tasks: sum("tasks"),
      liveBytes: sum("live"),
      codeBytes: sum("code"),
      residentBytes: sum("rss"),
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
 * problems of a configuration and of a store that the soak has broken. If the store breaks by
 * itself, answers are refused.
 */
export function isComplaint(line: string): boolean {
  if (/internal_error|Uncaught|panicked|^\s+at /.test(line)) return true;
  return line.includes('"level":"error"') &&
    !/\(line \d+, column \d+\)"|configuration not reloaded|state store|state\.sqlite/.test(line);
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
