import type { Variables } from "../config/expand.ts";
import { fillVariables } from "../config/files.ts";
import { type Loaded, parseConfig } from "../config/load.ts";
import { HOSTS } from "../data/hosts.ts";

/** A configuration made of environment variables, with its description for the user. */
export interface Offer {
  readonly loaded: Loaded;
  readonly about: string;
}

interface Account {
  readonly id: "openai" | "anthropic" | "ollama";
  readonly variable: string;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Provider accounts by environment variable; the default models are cheap ones for a first call.
 */
const ACCOUNTS: readonly Account[] = [
  {
    id: "openai",
    variable: "OPENAI_API_KEY",
    settings: { api_key: "${OPENAI_API_KEY}", default_model: "gpt-4o-mini" },
  },
  {
    id: "anthropic",
    variable: "ANTHROPIC_API_KEY",
    settings: { api_key: "${ANTHROPIC_API_KEY}", default_model: "claude-haiku-4-5" },
  },
  { id: "ollama", variable: "OLLAMA_HOST", settings: { base_url: "${OLLAMA_HOST}" } },
];

const NOTHING = "There is no ./config.yaml, no --config, and none of OPENAI_API_KEY, " +
  "ANTHROPIC_API_KEY and OLLAMA_HOST is set: write a file (switchyard help getting-started), set one of them, " +
  'or try "switchyard demo".';

/**
 * Returns a configuration with one route over the accounts in the environment and `./.env`. With
 * several providers the requested model must name its provider: a plain name would be balanced over
 * all.
 */
export async function environmentConfig(environment: Variables): Promise<Offer> {
  const { variables, warnings } = await fillVariables(environment, ["."]);
  const offered = ACCOUNTS.filter(({ variable }) => (variables[variable] ?? "").trim() !== "");
  if (offered.length === 0) return { loaded: { ok: false, problems: [NOTHING] }, about: "" };
  const loaded = parseConfig(JSON.stringify(configOver(offered)), {
    ...variables,
    OLLAMA_HOST: ollamaUrl(variables.OLLAMA_HOST ?? ""),
  });
  return {
    loaded: loaded.ok ? { ...loaded, warnings: [...warnings, ...loaded.warnings] } : loaded,
    about: aboutText(offered),
  };
}

function configOver(offered: readonly Account[]) {
  const isMany = offered.length > 1;
  const match = isMany ? { models: offered.map(({ id }) => `${id}/*`) } : {};
  const targets = offered.map(({ id }) => ({ provider: id }));
  return {
    providers: Object.fromEntries(
      offered.map(({ id, settings }) => [
        id,
        { ...settings, capabilities: HOSTS[id].capabilities },
      ]),
    ),
    routing: { routes: [{ name: "environment", match, targets }] },
  };
}

function aboutText(offered: readonly Account[]): string {
  const list = offered.map(({ id, variable }) => `${id} (${variable})`).join(", ");
  const about = `No configuration file: serving the providers of the environment, ${list}.`;
  const examples = offered.map(({ id, settings }) => `${id}/${settings.default_model ?? "MODEL"}`);
  return offered.length > 1
    ? `${about}\nA model must name its provider: ${examples.join(", ")}.`
    : about;
}

/**
 * Returns the address of a local runtime from OLLAMA_HOST: a host, host:port or a URL. Without a
 * scheme the default port is 11434. A wildcard address becomes loopback. Invalid text is returned
 * unchanged, because the check of the configuration reports it.
 */
export function ollamaUrl(written: string): string {
  const text = written.trim().replace(/^(["'])(.*)\1$/, "$2");
  const hasScheme = /^https?:\/\//i.test(text);
  const isBareIpv6 = /^[0-9a-f]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text);
  const [, authority = "", path = ""] = /^([^/]*)(.*)$/.exec(isBareIpv6 ? `[${text}]` : text) ?? [];
  const host = /^:\d+$/.test(authority) ? `127.0.0.1${authority}` : authority;
  const port = /:\d+$/.test(host) ? "" : ":11434";
  const url = URL.parse(hasScheme ? text : `http://${host}${port}${path}`);
  if (url === null) return text;
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.hostname === "[::]") url.hostname = "[::1]";
  return url.href.replace(/\/+$/, "");
}
