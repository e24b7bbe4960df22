import fixtures from "../fixtures.json" with { type: "json" };
import { AGENTS, unknownModel } from "../../../src/cli/agents.ts";
import type { Client, Place, Shot } from "../client.ts";

/** Time after which a session is ended: less than a cell has. */
const SESSION_TIMEOUT_S = 55;

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
export type Starter = (place: Place, model: string, prompt: string) => Start | Promise<Start>;

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
export function cliShots(start: Starter): Readonly<Record<"stream" | "tools" | "thinking", Shot>> {
  const shot = (name: string, expected: string) => async (place: Place) => {
    const { output } = await runSession(await start(place, place.model(name), fixtures.question));
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

/** A call of a tool of an agent, as a plan of the simulator has it. */
export interface PlannedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Returns the uses of an agent whose tool runs a shell command, which `shell` returns the call for:
 * two steps over hosts that want their signatures back, and a named model that gets another target
 * between two steps.
 */
export function taskShots(
  start: Starter,
  shell: (command: string) => PlannedCall,
): Client["shots"] {
  const planned = (...turns: readonly unknown[]) => `sim-plan: ${JSON.stringify(turns)}`;
  const twoSteps = (model: string) => async (place: Place) => {
    const prompt = planned(
      { say: "First.", call: [shell("echo one > one.txt")] },
      { say: "Then.", call: [shell("cat one.txt > two.txt")] },
      "Both are done.",
    );
    const { output, work } = await runSession(await start(place, model, prompt));
    if (!output.includes("Both are done.") || work["two.txt"] !== "one\n") {
      throw new Error(`${JSON.stringify(work)}: ${output.slice(-1500)}`);
    }
  };
  return {
    gemini: twoSteps("gemini/sim-plan"),
    openrouter: twoSteps("openrouter/sim-plan"),
    async named(place) {
      await (await fetch(`${place.root}/coder/compat/sim-plan`)).text();
      const command = `curl ${place.root}/coder/local/sim-recall`;
      const prompt = planned({ say: "I switch.", call: [shell(command)] }, "It is not switched.");
      const { output } = await runSession(await start(place, "coder", prompt));
      // The second target repeats the conversation, with the call that the first one has made.
      if (!/assistant calls [^]*The targets are replaced\./.test(output)) {
        throw new Error(output.slice(-1500));
      }
    },
  };
}

/** Returns the use of a client that asks a model whose name begins with the name of a fault. */
export function faultShot(start: Starter, fault: "silent" | "failing"): Shot {
  return async (place) => {
    const model = `${fault}-${place.model("sim-plan")}`;
    const { output } = await runSession(await start(place, model, fixtures.question));
    if (!output.includes(fixtures.question)) throw new Error(output.slice(-1500));
  };
}

/** Output and exit code of a session of a client. */
export interface Session {
  /** Standard output of the client, or its standard error if that is empty. */
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
    const { success, stdout, stderr } = await new Deno.Command("sh", {
      // `timeout` also ends what the client has started.
      args: [
        "-c",
        `${setup}\nexec timeout ${SESSION_TIMEOUT_S} "$0" "$@"`,
        `${Deno.env.get("CLIENT_BIN")}/${command}`,
        ...args,
      ],
      cwd: `${home}/work`,
      clearEnv: true,
      env: {
        PATH: `${Deno.env.get("CLIENT_BIN")}:${Deno.env.get("PATH")}`,
        HOME: home,
        // What is not for this machine ends at a port on which nothing listens.
        HTTPS_PROXY: "http://127.0.0.1:9",
        HTTP_PROXY: "http://127.0.0.1:9",
        NO_PROXY: "127.0.0.1,localhost",
        ...environment,
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).output();
    const decoder = new TextDecoder();
    const output = decoder.decode(stdout);
    if (!success) throw new Error((output + decoder.decode(stderr)).slice(-1500));
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
