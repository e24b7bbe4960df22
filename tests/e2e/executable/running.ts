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

/** The official client before the program before the program's own simulator, all by sockets. */
export interface RunningSdk extends AsyncDisposable {
  /** The gateway's address. */
  readonly url: string;
  readonly client: OpenAI;
}

/** Starts gateway and simulator, with a provider of each type that has its name. */
export async function startedSdk(): Promise<RunningSdk> {
  const simulator = await started(["simulate", "--port", "0"]);
  const provider = (type: string, path: string) =>
    `  ${type}: {type: ${type}, base_url: "${simulator.url}${path}", api_key: k, default_model: sim-echo}`;
  using file = await configFile(`
server: {port: 0}
providers:
${provider("compat", "/compat/v1")}
${provider("messages", "/messages")}
${provider("local", "/local")}
routing: {routes: [{name: main, targets: [{provider: compat}, {provider: messages}, {provider: local}]}]}
`);
  const gateway = await started(["--config", file.path]);
  return {
    url: gateway.url,
    client: new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: "sk-client", maxRetries: 0 }),
    async [Symbol.asyncDispose]() {
      await gateway.ended();
      await simulator.ended();
    },
  };
}
