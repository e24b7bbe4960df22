import { load } from "../config/load.ts";
import { nearest } from "../config/problems.ts";
import { isPattern } from "../config/models_rules.ts";
import type { Config, NamedModelConfig } from "../config/schema.ts";
import { type AgentModel, AGENTS, unknownModel } from "./agents.ts";
import { optionValue, type OptionValues } from "./arguments.ts";
import { codexCatalog } from "./codex_catalog.ts";
import {
  type Command,
  CONFIG_OPTION,
  OK_STATUS,
  printProblems,
  USUAL_CONFIG,
  wrongUsage,
} from "./command.ts";
import { urlOf } from "./listen.ts";

const NAME = "NAME";

/** Environment variable of the client key, unless the command names another. */
const KEY_VARIABLE = "SWITCHYARD_KEY";

/** Command `switchyard agent NAME`: prints the settings of a coding agent for the gateway. */
export const agent: Command = {
  name: "agent",
  about: "Prints what a coding agent needs to use the gateway; without a name it lists the agents.",
  word: NAME,
  choices: () => Promise.resolve(Object.keys(AGENTS)),
  options: {
    config: CONFIG_OPTION,
    model: {
      value: "MODEL",
      about: "The model that the agent requests; default: the first named model of the file.",
    },
    "small-model": {
      value: "MODEL",
      about:
        "The model for small tasks, where the agent has one; default: that of --model, without it the first named model with haiku in its name.",
    },
    reasoning: {
      value: null,
      about: "The model thinks: opencode and pi may request a level of effort.",
    },
    url: { value: "URL", about: "The address of the gateway; default: that of the file." },
    "key-env": {
      value: "VARIABLE",
      about: `The environment variable with the client key; default: ${KEY_VARIABLE}.`,
    },
    catalog: {
      value: null,
      about: "For codex: reads codex debug models --bundled and prints a catalog with the models.",
    },
  },
  async run(options, terminal) {
    const name = optionValue(options, NAME);
    if (name === undefined) {
      terminal.out(agentList());
      return OK_STATUS;
    }
    const found = Object.hasOwn(AGENTS, name) ? AGENTS[name] : undefined;
    if (found === undefined) return wrongUsage(terminal, "agent", unknownAgent(name));
    const wrong = wrongWords(options);
    if (wrong !== null) return wrongUsage(terminal, "agent", wrong);
    const gateway = await findGateway(options, terminal.environment);
    const models = gateway.ok ? gateway.value.models : [];
    const model = optionValue(options, "model") ?? models[0]?.name;
    if (model === undefined) {
      return gateway.ok || optionValue(options, "config") === undefined
        ? wrongUsage(terminal, "agent", MISSING_MODEL)
        : printProblems(terminal, gateway.problems);
    }
    const about = (wanted: string) =>
      models.find((one) => one.name === wanted) ?? unknownModel(wanted);
    if (options.has("catalog")) {
      if (name !== "codex") return wrongUsage(terminal, "agent", "--catalog is for codex.");
      const others = models.filter((one) => one.name !== model);
      const catalog = codexCatalog(await terminal.input(), [about(model), ...others]);
      if (catalog.isMinimal) terminal.err(MINIMAL_NOTE);
      terminal.out(catalog.text);
      return OK_STATUS;
    }
    if (!gateway.ok) return printProblems(terminal, gateway.problems);
    const { url, keyVariable } = gateway.value;
    const smallModel = optionValue(options, "small-model") ?? smallOf(options, models) ?? model;
    const reasoning = options.has("reasoning");
    const place = { url, keyVariable, model, smallModel, reasoning, about };
    terminal.out(found.text(place));
    // In a pipe the text goes to the shell or into a file, and the user knows the steps.
    if (terminal.size() !== null) terminal.err(stepLines(found.steps(place)));
    return OK_STATUS;
  },
};

/** Returns the named model for small tasks if the file chooses the models; undefined for none. */
function smallOf(options: OptionValues, models: readonly AgentModel[]): string | undefined {
  const isChosen = optionValue(options, "model") !== undefined;
  return isChosen ? undefined : models.find(({ name }) => name.includes("haiku"))?.name;
}

function stepLines(steps: readonly string[]): string {
  return ["", ...steps].map((line) => `# ${line}`.trim() + "\n").join("");
}

const MISSING_MODEL =
  "--model is missing, and there is no file whose models: names one that it could be.";

const MINIMAL_NOTE =
  "# Standard input held no model of Codex, so the catalog has short instructions in place of Codex's own. " +
  "Pipe codex debug models --bundled into this command.\n";

function agentList(): string {
  const width = Math.max(...Object.keys(AGENTS).map(({ length }) => length));
  return Object.entries(AGENTS).map(([name, { title }]) => `${name.padEnd(width)}  ${title}\n`)
    .join("");
}

function unknownAgent(name: string): string {
  if (name === "gemini") {
    return "gemini-cli has only the Gemini API, which this gateway does not offer.";
  }
  const names = Object.keys(AGENTS);
  const likely = nearest(name, names);
  const hint = likely === null ? `there are ${names.join(", ")}` : `did you mean ${likely}?`;
  return `There is no agent "${name}"; ${hint}.`.replace("?.", "?");
}

/** Returns the address of the gateway, the variable of its client key, and its named models. */
async function findGateway(options: OptionValues, environment: Readonly<Record<string, string>>) {
  const url = optionValue(options, "url")?.replace(/\/+$/, "").replace(/\/v1$/, "");
  const variable = optionValue(options, "key-env");
  const file = optionValue(options, "config");
  if (url !== undefined && file === undefined) {
    const keyVariable = variable ?? KEY_VARIABLE;
    return { ok: true, value: { url, keyVariable, models: [] } } as const;
  }
  const loaded = await load(file ?? USUAL_CONFIG, environment);
  if (!loaded.ok) {
    const hint = "--url names the address of a gateway without its file.";
    return { ok: false, problems: [...loaded.problems, hint] } as const;
  }
  const place = placeOf(loaded.config, variable);
  return { ok: true, value: { ...place, url: url ?? place.url } } as const;
}

/** Returns what is wrong with the values that the shell or the agent reads; null if nothing is. */
function wrongWords(options: OptionValues): string | null {
  const { url, ...names } = Object.fromEntries(
    ["url", "model", "small-model", "key-env"].map((name) => [name, optionValue(options, name)]),
  );
  if (url !== undefined && !/^https?:\/\/[^/]/.test(url)) {
    return "--url must be an http or https URL.";
  }
  const empty = Object.keys(names).find((name) => names[name] === "");
  if (empty !== undefined) return `--${empty} must not be empty.`;
  // The shell reads the name within quotes, where other characters would be a command or a text.
  return /^[A-Za-z_]\w*$/.test(names["key-env"] ?? KEY_VARIABLE)
    ? null
    : "--key-env must be the name of an environment variable.";
}

function placeOf({ server, security, models }: Config, variable: string | undefined) {
  const isOpen = !security.enabled && variable === undefined;
  return {
    url: urlOf(server.host, server.port),
    keyVariable: isOpen ? null : variable ?? KEY_VARIABLE,
    models: Object.entries(models).filter(([name]) => !isPattern(name)).map(modelOf),
  };
}

function modelOf([name, model]: readonly [string, NamedModelConfig]): AgentModel {
  const { display_name = name, context_size = null, max_output = null } = model;
  return { name, displayName: display_name, contextSize: context_size, maxOutput: max_output };
}
