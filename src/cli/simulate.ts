import { newRealWorld } from "./real_world.ts";
import { optionValue, parsePort } from "./arguments.ts";
import { type Command, OK_STATUS, printProblems, wrongUsage } from "./command.ts";
import { stopped } from "./listen.ts";

const USUAL_PORT = 8081;

/** Command `switchyard simulate`: serves simulated providers for any gateway or client. */
export const simulate: Command = {
  name: "simulate",
  about: "Serves only the simulator: providers of every type that need no key and no network.",
  options: {
    port: {
      value: "PORT",
      about: `The loopback port; ${USUAL_PORT} by default, 0 selects a free port.`,
    },
  },
  async run(options, terminal) {
    const port = parsePort(optionValue(options, "port") ?? String(USUAL_PORT));
    if (port === null) {
      return wrongUsage(terminal, "simulate", "--port must be a number from 0 to 65535.");
    }
    // Loaded only now: a gateway does not need the simulator in memory.
    const { serveSimulator } = await import("./serve_simulator.ts");
    const { MODELS } = await import("../simulator/model_behaviour.ts");
    const world = newRealWorld();
    const listening = serveSimulator(world, port);
    if (!listening.ok) {
      world.close();
      return printProblems(terminal, [listening.trouble]);
    }
    const stop = terminal.stop();
    terminal.out(simulatorText(listening.url, MODELS));
    await stopped(stop);
    await listening.close();
    world.close();
    return OK_STATUS;
  },
};

function simulatorText(url: string, models: readonly string[]): string {
  return [
    `The simulator listens on ${url}`,
    "",
    "base_url by provider type:",
    `  compat    ${url}/compat/v1`,
    `  messages  ${url}/messages (with any api_key)`,
    `  local     ${url}/local`,
    `  clouds    ${url}/clouds/HOST (switchyard help simulator)`,
    "",
    "Models:",
    ...models.map((model) => `  ${model}`),
    "",
    "",
  ].join("\n");
}
