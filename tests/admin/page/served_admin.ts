import { listen } from "../../../src/cli/listen.ts";
import { newSimulator } from "../../../src/simulator/simulator.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { configFile, type TestTerminal, whileServing } from "../../cli/test_terminal.ts";

/** A gateway with its admin page over simulated providers. */
export interface ServedAdmin {
  /** Address of the admin page, with a slash at its end. */
  readonly page: string;
  readonly gateway: string;
  readonly terminal: TestTerminal;
  /** Sends a chat request and reads the response to its end. Returns its status. */
  chat(model: string, init?: ChatInit): Promise<number>;
  /** Writes the configuration, which is loaded. */
  write(text: string): Promise<void>;
  /** Ends the simulator: the providers no longer listen. */
  kill(): Promise<void>;
}

/** Parts of a chat request. */
export interface ChatInit {
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isStream?: boolean;
  readonly signal?: AbortSignal;
}

/** Returns a configuration with a provider of each type at the simulator, and these sections. */
export function simulatedConfig(upstream: string, sections = ""): string {
  return `
server: {port: 0}
admin: {enabled: true, port: 0}
providers:
  compat: {type: compat, base_url: "${upstream}/compat/v1", api_key: any}
  claude: {type: messages, base_url: "${upstream}/messages", api_key: any, first_content_timeout: 60s}
  local: {type: local, base_url: "${upstream}/local"}
circuit_breaker: {failure_threshold: 1, open_duration: 300s}
retry: {enabled: false}
routing:
  routes:
    - name: coding
      match: {models: ["claude-*"]}
      targets: [{provider: claude}]
      fallback: [{provider: local}]
    - name: main
      targets:
        - {provider: compat, weight: 3}
        - {provider: local, weight: 1}
${sections}`;
}

/** Serves a configuration over the simulator while `use` works with it. */
export async function whileAdminServes(
  use: (served: ServedAdmin) => Promise<void>,
  configOf: (upstream: string) => string = simulatedConfig,
): Promise<void> {
  const world = newRealWorld();
  const upstream = listen(newSimulator(world), "127.0.0.1", 0);
  if (!upstream.ok) throw new Error(upstream.trouble);
  using file = await configFile(configOf(upstream.url));
  using client = Deno.createHttpClient({});
  let isKilled = false;

  async function kill() {
    if (isKilled) return;
    isKilled = true;
    if (upstream.ok) await upstream.close();
  }

  await whileServing(["--config", file.path], async (terminal) => {
    const [, gateway = ""] = await terminal.printed(/listens on (\S+)\n/);
    const [, page = ""] = await terminal.printed(/Admin page: (\S+)\n/);
    await use({
      page,
      gateway,
      terminal,
      kill,
      async chat(
        model,
        { key, headers = {}, isStream = false, signal } = {},
      ) {
        const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
        const response = await fetch(`${gateway}/v1/chat/completions`, {
          client,
          method: "POST",
          ...signal === undefined ? {} : { signal },
          headers: { "content-type": "application/json", ...authorization, ...headers },
          body: JSON.stringify({
            model,
            stream: isStream,
            messages: [{ role: "user", content: "Say hello." }],
          }),
        });
        await response.text();
        return response.status;
      },
      async write(text) {
        await Deno.writeTextFile(file.path, text);
        terminal.reload();
      },
    });
  });
  await kill();
  world.close();
}
