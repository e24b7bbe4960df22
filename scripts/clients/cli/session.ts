import fixtures from "../fixtures.json" with { type: "json" };
import { AGENTS } from "../../../src/cli/agents.ts";
import type { Client, Place } from "../client.ts";

/** How a command-line client is started for one prompt. */
export interface Start {
  /** Name of the command in the client's package. */
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Shell lines that are evaluated before the command, in its environment. */
  readonly setup?: string;
  /** Files that it reads, by their paths in its home folder. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Returns how a client is started at a place, for a model and a prompt. */
export type Starter = (place: Place, model: string, prompt: string) => Start;

/** Returns what `switchyard agent NAME` prints for a gateway; the key is in `SWITCHYARD_KEY`. */
export function agentText(name: string, { baseURL }: Place, model: string): string {
  const place = { url: baseURL.replace(/\/v1$/, ""), model, smallModel: model };
  return AGENTS[name]?.text({ ...place, keyVariable: "SWITCHYARD_KEY" }) ?? "";
}

/**
 * Returns the uses of a command-line client: a prompt, and a prompt for which the model calls the
 * client's own first tool. The tool loops end with what the tool has returned.
 */
export function cliShots(start: Starter): Client["shots"] {
  const shot = (name: string, expected: string) => async (place: Place) => {
    const output = await run(start(place, place.model(name), fixtures.question));
    if (!output.includes(expected)) {
      throw new Error(`${expected} is not in: ${output.slice(-1500)}`);
    }
  };
  return {
    stream: shot("sim-echo", fixtures.question),
    tools: shot("sim-tools", 'The tools said "'),
    thinking: shot("sim-think-tools", 'The tools said "'),
  };
}

/** Runs a client in a new home folder; returns what it prints to its standard output. */
async function run(
  { command, args, environment = {}, setup = "", files = {} }: Start,
): Promise<string> {
  const home = await Deno.makeTempDir();
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(`${home}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${home}/${path}`, text);
    }
    await Deno.mkdir(`${home}/work`, { recursive: true });
    const { stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", `${setup}\nexec "$0" "$@"`, `${Deno.env.get("CLIENT_BIN")}/${command}`, ...args],
      cwd: `${home}/work`,
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "", HOME: home, ...environment },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    const decoder = new TextDecoder();
    const output = decoder.decode(stdout);
    return output.trim() === "" ? decoder.decode(stderr) : output;
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}
