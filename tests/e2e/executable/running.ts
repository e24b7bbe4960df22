import OpenAI from "openai";
import { type Program, program } from "../../cli/program.ts";
import { configFile } from "../../cli/test_terminal.ts";

/** The program as a process: the sources, or the executable that is tested. */
export interface Running extends Program, AsyncDisposable {
  /** The address that the program printed. */
  readonly url: string;
  /** Asks it to end; resolves with its exit code and log. */
  ended(): Promise<readonly [code: number, log: string]>;
}

/** Starts the program, by way of the command `before`, and waits until it listens. */
export async function started(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  before: readonly string[] = [],
): Promise<Running> {
  const { child, out, err } = program(args, { env: { ...env } }, before);
  const [, url = ""] = await out.until(/listens on (\S+)/) ?? [];
  if (url === "") throw new Error(`The program does not listen: ${await err.rest()}`);
  let ending: Promise<readonly [number, string]> | null = null;

  async function end(): Promise<readonly [number, string]> {
    child.kill("SIGTERM");
    const [{ code }, , log] = await Promise.all([child.status, out.rest(), err.rest()]);
    return [code, log];
  }

  const ended = () => ending ??= end();
  return { child, out, err, url, ended, [Symbol.asyncDispose]: async () => void await ended() };
}

/** Where the simulator speaks each provider type. */
const PATHS = { compat: "/compat/v1", messages: "/messages", local: "/local" } as const;

/** The official client before the program before the program's own simulator, all by sockets. */
export interface RunningSdk extends AsyncDisposable {
  /** The gateway's address. */
  readonly url: string;
  readonly client: OpenAI;
}

/** Starts gateway and simulator for one provider type. */
export async function startedSdk(wire: keyof typeof PATHS): Promise<RunningSdk> {
  const simulator = await started(["simulate", "--port", "0"]);
  const file = await configFile(`
server: {port: 0}
providers:
  sim:
    type: ${wire}
    base_url: ${simulator.url}${PATHS[wire]}
    api_key: sk-upstream
    default_model: sim-echo
routing: {routes: [{name: main, targets: [{provider: sim}]}]}
`);
  const gateway = await started(["--config", file.path]);
  return {
    url: gateway.url,
    client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "sk-client", maxRetries: 0 }),
    async [Symbol.asyncDispose]() {
      file[Symbol.dispose]();
      await gateway.ended();
      await simulator.ended();
    },
  };
}
