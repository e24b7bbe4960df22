import { listenPlace } from "../config/load.ts";
import { Cancellation } from "../core/cancellation.ts";
import type { World } from "../core/world.ts";
import { optionValue } from "./arguments.ts";
import { type Command, CONFIG_OPTION, configPath, OK_STATUS, printProblems } from "./command.ts";
import { urlOf } from "./listen.ts";
import { newRealWorld } from "./real_world.ts";

/** Time for the response: a health check of a container is repeated soon. */
const RESPONSE_TIMEOUT_MS = 3_000;

type HealthWorld = Pick<World, "send" | "after"> & { close(): void };

/** Command `switchyard health`: the health check of a container. */
export const health: Command = newHealthCommand(newRealWorld);

/** Returns the command `health`; `openWorld` opens the network. */
export function newHealthCommand(openWorld: () => HealthWorld): Command {
  return {
    name: "health",
    about: "Requests /health of a running gateway; exit code 1 if the answer is not 200.",
    options: {
      config: CONFIG_OPTION,
      url: { value: "URL", about: "The address of the gateway; default: that of the file." },
    },
    async run(options, terminal) {
      let url = optionValue(options, "url");
      let problems: readonly string[] = [];
      if (url === undefined) {
        const file = configPath(options);
        const place = await listenPlace(file, terminal.environment);
        problems = place.problems;
        if (!place.ok) return printProblems(terminal, problems);
        url = urlOf(place.host, place.port);
      } else if (!/^https?:\/\/[^/@]+\/?$/.test(url)) {
        return printProblems(terminal, ["--url must be an http or https URL without a path."]);
      }
      const world = openWorld();
      try {
        const trouble = await troubleAt(url.replace(/\/$/, ""), world);
        if (trouble !== null) return printProblems(terminal, [...problems, `${url} ${trouble}.`]);
        terminal.out("healthy\n");
        return OK_STATUS;
      } finally {
        world.close();
      }
    },
  };
}

/** Returns what is wrong as the predicate of a sentence; null if the gateway is healthy. */
async function troubleAt(url: string, world: HealthWorld): Promise<string | null> {
  const cancellation = new Cancellation();
  const stopTimer = world.after(RESPONSE_TIMEOUT_MS, () => cancellation.cancel(null));
  try {
    const { status, body } = await world.send(`${url}/health`, {
      method: "GET",
      headers: {},
      body: null,
      cancellation,
    });
    await body?.cancel();
    return status === 200 ? null : `answers with status ${status}`;
  } catch {
    return "does not answer";
  } finally {
    stopTimer();
  }
}
