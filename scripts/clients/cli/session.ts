import fixtures from "../fixtures.json" with { type: "json" };
import { AGENTS, unknownModel } from "../../../src/cli/agents.ts";
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
  const reasoning = model.includes("think");
  const place = { url: baseURL.replace(/\/v1$/, ""), model, smallModel: model, reasoning };
  return AGENTS[name]?.text({ ...place, keyVariable: "SWITCHYARD_KEY", about: unknownModel }) ?? "";
}

/**
 * Returns the uses of a command-line client: a prompt, and a prompt for which the model calls the
 * client's own first tool. The tool loops end with what the tool has returned.
 */
export function cliShots(start: Starter): Client["shots"] {
  const shot = (name: string, expected: string) => async (place: Place) => {
    const { output } = await runSession(start(place, place.model(name), fixtures.question));
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

/** What a session of a client has left behind. */
export interface Session {
  /** What the client printed: its standard output, or its standard error if that is empty. */
  readonly output: string;
  /** Files of the folder in which it worked, by their names. */
  readonly work: Readonly<Record<string, string>>;
}

/** Runs a client in a new home folder; it works in the folder `work` of it. */
export async function runSession(
  { command, args, environment = {}, setup = "", files = {} }: Start,
): Promise<Session> {
  const home = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${home}/work`, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(`${home}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${home}/${path}`, text);
    }
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
    return {
      output: output.trim() === "" ? decoder.decode(stderr) : output,
      work: await filesIn(`${home}/work`),
    };
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

async function filesIn(folder: string): Promise<Session["work"]> {
  const files: Record<string, string> = {};
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (isFile) files[name] = await Deno.readTextFile(`${folder}/${name}`);
  }
  return files;
}
