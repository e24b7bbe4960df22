import type { ListedNamedModel } from "../call/generation.ts";
import type { JsonObject } from "../core/json/json.ts";

/** A model as an agent shows it; null for what the configuration does not say. */
export type AgentModel = Omit<ListedNamedModel, "route">;

/** Returns a model of which nothing is known but its name. */
export function unknownModel(name: string): AgentModel {
  return { name, displayName: name, contextSize: null, maxOutput: null };
}

/** Facts of a gateway for an agent. */
export interface AgentPlace {
  /** Address of the gateway without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Model that the agent requests. */
  readonly model: string;
  /** Model for small tasks, where the agent has one. */
  readonly smallModel: string;
  /** Returns what is known of a model by its name. */
  about(name: string): AgentModel;
  /** True if the model thinks, so that the agent may request a level of effort. */
  readonly reasoning: boolean;
  /** Environment variable with the client key; null if the gateway requires none. */
  readonly keyVariable: string | null;
}

/** A coding agent that can use a gateway. */
export interface Agent {
  readonly title: string;
  /** Returns the lines that the shell evaluates, or the text of the agent's file. */
  text(place: AgentPlace): string;
  /** Returns what to do with the text, as lines without a line end. */
  steps(place: AgentPlace): readonly string[];
}

/** The word for a key where the gateway requires none: agents do not start without one. */
const NO_KEY = "unused";

/** Names of models that Codex brings with it. It also takes longer ones, and one before a slash. */
export const CODEX_MODEL = /^(?:[^/]+\/)?(?:gpt|codex)-[^/]+$/;

/** The agents by their names on the command line. */
export const AGENTS: Readonly<Record<string, Agent>> = {
  claude: {
    title: "Claude Code",
    text({ url, model, smallModel, keyVariable, about }) {
      const { contextSize, maxOutput } = about(model);
      return exports({
        ANTHROPIC_BASE_URL: quoted(url),
        ANTHROPIC_AUTH_TOKEN: keyWord(keyVariable),
        ANTHROPIC_MODEL: quoted(model),
        ANTHROPIC_DEFAULT_OPUS_MODEL: quoted(model),
        ANTHROPIC_DEFAULT_SONNET_MODEL: quoted(model),
        ANTHROPIC_DEFAULT_HAIKU_MODEL: quoted(smallModel),
        ...contextSize !== null && { CLAUDE_CODE_MAX_CONTEXT_TOKENS: String(contextSize) },
        ...maxOutput !== null && { CLAUDE_CODE_MAX_OUTPUT_TOKENS: String(maxOutput) },
        CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: "1",
      });
    },
    steps: () => evaluated("claude", "claude"),
  },
  codex: {
    title: "Codex",
    text({ url, model, keyVariable, about }) {
      const { contextSize } = about(model);
      const provider = [
        `name = "Switchyard"`,
        `base_url = ${JSON.stringify(`${url}/v1`)}`,
        `wire_api = "responses"`,
        ...keyVariable === null ? [] : [`env_key = ${JSON.stringify(keyVariable)}`],
        "supports_websockets = true",
      ];
      return [
        `model = ${JSON.stringify(model)}`,
        `model_provider = "switchyard"`,
        // Only a provider that runs it has the hosted search.
        `web_search = "disabled"`,
        // For the models that it brings Codex requests low verbosity, which few providers have.
        ...CODEX_MODEL.test(model) ? ['model_verbosity = "medium"'] : [],
        ...contextSize === null ? [] : [`model_context_window = ${contextSize}`],
        "",
        "[model_providers.switchyard]",
        ...provider,
        "",
      ].join("\n");
    },
    steps: () => [
      "mkdir -p ~/.codex; switchyard agent codex --model MODEL > ~/.codex/switchyard.config.toml",
      "codex -p switchyard",
      "For apply_patch on a model that Codex does not know, add a catalog:",
      "codex debug models --bundled | switchyard agent codex --model MODEL --catalog > ~/.codex/switchyard-models.json",
      'and the line model_catalog_json = "PATH OF THAT FILE" at the head of switchyard.config.toml.',
    ],
  },
  opencode: {
    title: "opencode",
    text({ url, model, smallModel, reasoning, keyVariable, about }) {
      const names = [...new Set([model, smallModel])];
      const config: JsonObject = {
        provider: {
          switchyard: {
            npm: "@ai-sdk/openai-compatible",
            name: "Switchyard",
            options: {
              baseURL: `${url}/v1`,
              apiKey: keyVariable === null ? NO_KEY : `{env:${keyVariable}}`,
            },
            models: Object.fromEntries(
              names.map((name) => [name, opencodeModel(about(name), reasoning)]),
            ),
          },
        },
        model: `switchyard/${model}`,
        small_model: `switchyard/${smallModel}`,
      };
      return exports({ OPENCODE_CONFIG_CONTENT: quoted(JSON.stringify(config)) });
    },
    steps: () => evaluated("opencode", "opencode"),
  },
  pi: {
    title: "pi",
    text({ url, model, smallModel, reasoning, keyVariable, about }) {
      const ids = [...new Set([model, smallModel])];
      const provider: JsonObject = {
        baseUrl: `${url}/v1`,
        // Over Responses pi names its session.
        api: "openai-responses",
        apiKey: keyVariable ?? NO_KEY,
        models: ids.map((id) => piModel(about(id), reasoning)),
      };
      return `${JSON.stringify({ providers: { switchyard: provider } }, null, 2)}\n`;
    },
    steps: ({ model }) => [
      "mkdir -p ~/.pi/agent; switchyard agent pi --model MODEL > ~/.pi/agent/models.json",
      `pi --provider switchyard --model ${quoted(model)}`,
    ],
  },
  qwen: {
    title: "Qwen Code",
    text({ url, model, keyVariable }) {
      return exports({
        OPENAI_BASE_URL: quoted(`${url}/v1`),
        OPENAI_API_KEY: keyWord(keyVariable),
        OPENAI_MODEL: quoted(model),
      });
    },
    steps: () => evaluated("qwen", "qwen --auth-type openai"),
  },
  cline: {
    title: "Cline",
    text({ url, model, keyVariable }) {
      const words = ["-k", keyWord(keyVariable), "-m", quoted(model), "-b", quoted(`${url}/v1`)];
      return `cline auth -p openai-compatible ${words.join(" ")}\n`;
    },
    steps: () => evaluated("cline", "cline"),
  },
  aider: {
    title: "aider",
    text({ url, model, smallModel, keyVariable }) {
      return exports({
        OPENAI_API_BASE: quoted(`${url}/v1`),
        OPENAI_API_KEY: keyWord(keyVariable),
        AIDER_MODEL: quoted(`openai/${model}`),
        AIDER_WEAK_MODEL: quoted(`openai/${smallModel}`),
      });
    },
    steps: () => evaluated("aider", "aider"),
  },
};

/** Returns a model of opencode, which needs both limits or none. */
function opencodeModel(
  { displayName, contextSize, maxOutput }: AgentModel,
  reasoning: boolean,
): JsonObject {
  const limit = contextSize === null || maxOutput === null
    ? {}
    : { limit: { context: contextSize, output: maxOutput } };
  return { name: displayName, tool_call: true, reasoning, ...limit };
}

/** Returns a model of pi. */
function piModel(
  { name, displayName, contextSize, maxOutput }: AgentModel,
  reasoning: boolean,
): JsonObject {
  return {
    id: name,
    ...displayName !== name && { name: displayName },
    reasoning,
    ...contextSize !== null && { contextWindow: contextSize },
    ...maxOutput !== null && { maxTokens: maxOutput },
  };
}

/** Returns the steps for a text that is shell lines. */
function evaluated(name: string, command: string): readonly string[] {
  return [`eval "$(switchyard agent ${name} --model MODEL)"`, command];
}

/** Returns shell lines that set environment variables to words of the shell. */
function exports(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables).map(([name, word]) => `export ${name}=${word}\n`).join("");
}

function keyWord(variable: string | null): string {
  return variable === null ? NO_KEY : `"$${variable}"`;
}

/**
 * Returns a text as one word of bash, zsh, fish and other shells. Within single quotes fish reads a
 * backslash as an escape, so the text has it outside of them.
 */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/['\\]/g, "'\\$&'")}'`;
}
