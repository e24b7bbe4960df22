import { listen, type Listening } from "../../src/cli/listen.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { parseConfig } from "../../src/config/load.ts";
import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { createApp } from "../../src/server/app.ts";
import { newSimulator } from "../../src/simulator/simulator.ts";
import { client as claudeCode, start as claudeStart } from "../clients/cli/clients/claude_code.ts";
import { client as opencode, start as opencodeStart } from "../clients/cli/clients/opencode.ts";
import { CODEX, codexStart } from "../clients/cli/codex.ts";
import { installed } from "../clients/cli/programs.ts";
import {
  type PlannedCall,
  runSession,
  type Session,
  type Starter,
} from "../clients/cli/session.ts";
import { reportRun } from "./runs.ts";

/** Values in the file that an agent reads, by their names there. */
const VALUES = { contact: "bob.miller@example.com", key: "AKIAQWERTYUIOP123456" };

/** Placeholder in a plan for what the model has read behind a word of the file. */
const readWord = (name: string) => `WHAT-${name}-IS`;

/** A text that a rule for answers refuses. */
const REFUSED = "Kingfisher";

/** An agent, and how its model calls a shell. */
interface Agent {
  readonly title: string;
  readonly packages: readonly string[];
  readonly start: Starter;
  readonly shell: (command: string) => PlannedCall;
}

type ProviderType = "compat" | "messages" | "local" | "native";

const CLAUDE: Agent = {
  title: "Claude Code",
  packages: claudeCode.packages,
  start: claudeStart,
  shell: (command) => ({ name: "Bash", input: { command } }),
};

const CODEX_SSE: Agent = {
  title: "Codex",
  packages: [CODEX],
  start: codexStart,
  shell: (cmd) => ({ name: "exec_command", input: { cmd } }),
};

const CODEX_SOCKET: Agent = {
  ...CODEX_SSE,
  title: "Codex over WebSocket",
  start: (place, model, prompt) => codexStart(place, model, prompt, { usesWebSocket: true }),
};

const OPENCODE: Agent = {
  title: "opencode",
  packages: opencode.packages,
  start: opencodeStart,
  shell: (command) => ({ name: "bash", input: { command, description: "Runs it" } }),
};

const TASKS: readonly (readonly [Agent, ProviderType])[] = [
  [CLAUDE, "messages"],
  [CLAUDE, "compat"],
  [CODEX_SSE, "native"],
  [CODEX_SSE, "messages"],
  [CODEX_SOCKET, "compat"],
  [OPENCODE, "local"],
];

/** Runs each task; throws if a file has another value, or a provider has received one. */
async function run(): Promise<void> {
  for (const [agent, type] of TASKS) {
    await copyValues(agent, type);
    console.log(`${agent.title} over ${type}: the file has the values, the provider has none`);
  }
  const refused = TASKS.filter(([{ packages }]) => packages.includes(CODEX));
  for (const [agent, type] of refused) {
    await meetRefusal(agent, type);
    console.log(`${agent.title} over ${type}: a refused answer is shown and not asked for again`);
  }
  const versions = new Set(TASKS.flatMap(([{ packages }]) => packages));
  await reportRun(
    "private_agents",
    [...versions],
    `${TASKS.length} sessions with values, ${refused.length} with a refused answer, all as expected`,
  );
}

/** Lets an agent read a file, copy what is in it into another one, and say it. */
async function copyValues(agent: Agent, type: ProviderType): Promise<void> {
  const [contact, key] = [readWord("contact"), readWord("key")];
  const plan = [
    { say: "I read it.", call: [agent.shell("cat contact.txt")] },
    { say: "I copy it.", call: [agent.shell(`echo '${contact} ${key}' > copy.txt`)] },
    `The contact is ${contact}.`,
  ];
  const { session: { output, work }, received } = await runAgent(agent, type, plan, repeat);
  if (work["copy.txt"] !== `${VALUES.contact} ${VALUES.key}\n`) {
    throw new Error(`The file is ${work["copy.txt"]}: ${output.slice(-1500)}`);
  }
  if (!output.includes(`The contact is ${VALUES.contact}.`)) throw new Error(output.slice(-1500));
  const leaked = received.find((text) => Object.values(VALUES).some((one) => text.includes(one)));
  if (leaked !== undefined) throw new Error(`The provider has received a value: ${leaked}`);
}

/** Lets an agent ask for an answer that a rule refuses when a part of it is delivered. */
async function meetRefusal(agent: Agent, type: ProviderType): Promise<void> {
  const plan = ["Well, it has to do with many things, and the name of one of them is BIRD."];
  const { session: { output }, received } = await runAgent(
    agent,
    type,
    plan,
    (body) => body.replaceAll("BIRD", REFUSED),
  );
  const count = received.filter((text) => text.includes("BIRD")).length;
  if (count !== 1 || !output.includes("does not let this answer pass")) {
    throw new Error(`${count} requests: ${output.slice(-1500)}`);
  }
}

/** Replaces the placeholders by the tokens that a tool has returned. */
function repeat(body: string): string {
  return Object.keys(VALUES).reduce((text, name) => {
    const [, token] = new RegExp(`${name} (qz[a-z]{16,28})`).exec(text) ?? [];
    return token === undefined ? text : text.replaceAll(readWord(name), token);
  }, body);
}

/** Runs an agent whose model follows a plan after `read` has changed the request. */
async function runAgent(
  { packages, start }: Agent,
  type: ProviderType,
  plan: readonly unknown[],
  read: (body: string) => string,
): Promise<{ readonly session: Session; readonly received: readonly string[] }> {
  const world = newRealWorld();
  const received: string[] = [];
  const simulate = newSimulator(world);
  const upstream = listening(listen(
    async (request) => {
      const { method, headers, url } = request;
      const body = await request.text();
      received.push(`${url} ${JSON.stringify([...headers])} ${body}`);
      return await simulate(
        new Request(url, { method, headers, ...body !== "" && { body: read(body) } }),
      );
    },
    "127.0.0.1",
    0,
  ));
  const config = parseConfig(configOf(type, upstream.url), {});
  if (!config.ok) throw new Error(config.problems.join("\n"));
  const app = createApp(newGateway(compile(config.config, 1), world, []));
  const { url, close } = listening(listen(app, "127.0.0.1", 0));
  Deno.env.set("CLIENT_BIN", await installed(packages));
  try {
    const place = { root: url, baseURL: `${url}/v1`, apiKey: "any", model: (name: string) => name };
    const started = await start(place, "sim-plan", `sim-plan: ${JSON.stringify(plan)}`);
    const source = Object.entries(VALUES).map((entry) => `${entry.join(" ")}\n`).join("");
    const files = { ...started.files, "work/contact.txt": source };
    // An agent that shows an error may end as if it had failed.
    const session = await runSession({ ...started, files })
      .catch(({ message }: Error) => ({ output: message, work: {} }));
    return { session, received };
  } finally {
    await close();
    await upstream.close();
    world.close();
  }
}

function configOf(type: ProviderType, upstream: string): string {
  const isNative = type === "native";
  const path = isNative || type === "compat" ? "compat/v1" : type;
  return JSON.stringify({
    privacy: {
      rules: [
        { name: "mail", find: ["email"], action: "replace" },
        { name: "keys", find: ["aws_key"], action: "replace" },
        { name: "birds", words: [REFUSED], phase: "response", action: "refuse" },
      ],
      policies: [{ name: "outside", rules: ["mail", "keys", "birds"] }],
      default: "outside",
    },
    providers: {
      up: {
        type: isNative ? "compat" : type,
        base_url: `${upstream}/${path}`,
        api_key: "any",
        capabilities: {
          structured_outputs: true,
          reasoning_effort: true,
          ...isNative && { responses_lifecycle: true },
        },
      },
    },
    routing: {
      routes: [{
        name: "main",
        targets: [{ provider: "up", ...isNative && { upstream_request_type: "responses" } }],
      }],
    },
    retry: { enabled: false },
  });
}

function listening(server: Listening): Extract<Listening, { ok: true }> {
  if (!server.ok) throw new Error(server.trouble);
  return server;
}

if (import.meta.main) await run();
