import { load } from "../config/load.ts";
import { recordPlaces } from "../config/record_places.ts";
import type { Config, ProviderConfig } from "../config/schema.ts";
import { formatDuration } from "../config/units.ts";
import { hostAt, hostNamed } from "../data/hosts.ts";
import { presetLines, presetText } from "./preset_lines.ts";
import { usedCapabilities } from "../config/unused_keys.ts";
import { checkCredentials } from "./check_credentials.ts";
import { compile } from "../gateway/compile.ts";
import { readKeyFile } from "../gateway/key_refresh.ts";
import { shownAddress } from "../observe/spans/address.ts";
import { isOpenAddress } from "../core/authority.ts";
import { visible } from "../core/visible_text.ts";
import { newSpanProviders } from "../observe/spans/span_providers.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import type { Wire } from "../wires/wire.ts";
import { type Command, CONFIG_OPTION, configPath, OK_STATUS, printProblems } from "./command.ts";
import {
  credentialText,
  keysText,
  matchText,
  serverText,
  shareText,
  targetText,
  verifiedText,
  writtenRoutes,
} from "../routing/route_text.ts";
import type { ClientKey } from "../access/client_key.ts";
import { keyForSomeUser } from "../access/end_users.ts";
import { clientByTemplate } from "../access/tokens/token_clients.ts";
import { hasBudget, refuseModel, refuseUnpriced } from "../access/permissions.ts";
import { refuseTier } from "../access/steering.ts";
import { keyMismatch } from "../routing/match.ts";
import { resolveModel } from "../routing/eligible.ts";

/** Command `switchyard check`: prints the routes of a configuration file, or all its problems. */
export const check: Command = {
  name: "check",
  about: "Checks a configuration file and prints its routes with what each target can do.",
  options: {
    config: CONFIG_OPTION,
    credentials: {
      value: null,
      about: "Also fetches each credential once, and prints when it ends.",
    },
  },
  async run(options, terminal) {
    const path = configPath(options);
    const loaded = await load(path, terminal.environment);
    if (!loaded.ok) return printProblems(terminal, loaded.problems);
    const { host, port, workers } = loaded.config.server;
    const generation = compile(loaded.config, 1);
    const presets = presetLines(generation);
    const problems = [...presets.problems, ...await keyFileProblems(loaded.config)];
    if (problems.length > 0) return printProblems(terminal, problems);
    const collector = shownAddress(terminal.environment);
    const warnings = [
      ...loaded.warnings,
      ...presets.warnings,
      ...unpricedLines(generation),
      ...openCollectorLines(collector),
    ];
    const lines = [
      `${path} is valid.`,
      ...warnings.map((warning) => `Warning: ${warning}`),
      `Listens on ${host}, port ${port}${workersText(workers)}.`,
      ...recordLines(loaded.config),
      ...spanLines(loaded.config, collector),
      ...routeTable(generation),
      "",
    ];
    terminal.out(lines.map(visible).join("\n"));
    return options.has("credentials") ? await checkCredentials(generation, terminal) : OK_STATUS;
  },
};

/**
 * Returns a line for each issuer whose file has no usable key. A gateway starts with such a file,
 * because it is read again later.
 */
async function keyFileProblems({ security: { jwt } }: Config): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, jwks_file: file } of jwt.issuers) {
    const read = file === undefined ? null : await readKeyFile(file);
    if (read?.ok === false) problems.push(`The jwks_file of issuer ${name} ${read.problem}.`);
  }
  return problems;
}

/** Returns what is recorded, of whom and for how long; no line while nothing is. */
function recordLines(config: Config): string[] {
  const { enabled, path, calls, keep, policy } = config.record;
  if (!enabled) return [];
  const named = recordPlaces(config).map(({ title, choice }) => `${choice} of ${title}`);
  return [
    `Records into ${path} for ${formatDuration(keep)}, masking ${policy}: ` +
    `${[...named, `${calls} of all other calls`].join(", ")}.`,
  ];
}

/** Returns a warning if spans go to another machine as anyone on the way can read them. */
function openCollectorLines(address: string | null): string[] {
  if (!isOpenAddress(URL.parse(address ?? ""))) return [];
  return ["The address for spans is not encrypted, and the host is another machine."];
}

/** Returns where spans go, and the providers with another name there; no line without spans. */
function spanLines(config: Config, address: string | null): string[] {
  if (address === null) return [];
  const provider = newSpanProviders(() => config);
  const renamed = Object.keys(config.providers).flatMap((id) => {
    const name = provider(id)?.name ?? id;
    return name === id ? [] : [`${id} as ${name}`];
  });
  return [`Sends spans to ${[address, ...renamed].join(", ")}.`];
}

function workersText(workers: number | "auto"): string {
  if (workers === "auto") return ", with one worker for each core";
  return workers === 1 ? "" : `, with ${workers} workers`;
}

function routeTable(generation: Generation): string[] {
  return writtenRoutes(generation).flatMap(({ route, match }) => [
    "",
    `Route ${route.name}: ${matchText(match)}`,
    ...presetText(route),
    `  strategy ${route.strategy}`,
    ...fixedModelLines(route),
    ...movingLines(route),
    ...route.targets.flatMap((target) => targetLines(place(target, route), target)),
    ...route.fallback.flatMap((target, at) => targetLines(`fallback ${at + 1}`, target)),
  ]);
}

/**
 * Returns a line for a route that matches every model and serves only those that its targets name.
 */
function fixedModelLines({ models, targets }: Route): string[] {
  const open = targets.filter(({ weight }) => weight > 0);
  if (models !== null || open.length === 0 || open.some(({ model }) => model === null)) return [];
  return [
    "  refuses requests for other models than those of its targets; to serve every model, leave out " +
    "'model' at a target and set 'default_model' at its provider",
  ];
}

/**
 * Returns a line for a route with exact shares and several targets of one provider type: the
 * strategy moves conversations from target to target.
 */
function movingLines({ strategy, targets }: Route): string[] {
  if (strategy !== "weighted") return [];
  const types = targets.filter(({ weight }) => weight > 0)
    .map(({ provider }) => provider.settings.type);
  return new Set(types).size === types.length ? [] : [
    "  conversations change their target, so the provider's prompt cache is hardly used; " +
    "'strategy: sticky' keeps each at one target",
  ];
}

function place(target: RouteTarget, route: Route): string {
  const open = route.targets.filter(({ weight }) => weight > 0);
  return target.weight > 0 ? shareText(target, open, route.strategy) : "drained";
}

function targetLines(label: string, target: RouteTarget): string[] {
  const indent = " ".repeat(14);
  return [
    `  ${label.padEnd(12)}${targetText(target)}: ${serverText(target)}`,
    ...capabilityLines(target).map((line) => `${indent}${line}`),
  ];
}

function capabilityLines(target: RouteTarget): string[] {
  const { provider, wire } = target;
  const { settings } = provider;
  const used = usedCapabilities(settings.type);
  const all = Object.entries(settings.capabilities).filter(([name]) => used.includes(name));
  const lists = all.flatMap(([name, value]) =>
    typeof value === "boolean" || value.length === 0 ? [] : [`${name}: ${value.join(", ")}`]
  );
  const on = all.filter(([, value]) => value === true).map(([name]) => name);
  return [
    `accepts: ${acceptedRequests(wire)}${
      provider.wire.embeddings === null ? "; no" : ","
    } embeddings; custom tools: ${wire.takesCustomTools(settings) ? "native" : "as functions"}`,
    ...hostLines(settings),
    ...(on.length === 0 ? [] : [`on: ${on.join(", ")}`]),
    ...lists,
    ...undeclaredLines(target),
    ...[verifiedText(target), keysText(target), credentialText(target)].filter((text) =>
      text !== null
    ),
  ];
}

/** Returns what is known of the host of a provider, by its profile or its address. */
function hostLines({ type, base_url, compatibility_profile: profile }: ProviderConfig): string[] {
  const named = profile === undefined ? null : hostNamed(profile);
  const host = named ?? hostAt(type, base_url)?.host;
  if (host?.notes === undefined) return [];
  const { title, asOf, notes } = host;
  return [`${named === null ? "host" : "profile"}: ${title}, as of ${asOf}. ${notes}`];
}

/** Returns the supported requests of a target besides embeddings. */
function acceptedRequests({ name }: Wire): string {
  switch (name) {
    case "compat":
      return "every chat field";
    case "responses":
      return "every Responses field, chat";
    case "messages":
    case "local":
      return "chat";
  }
}

type Capability = keyof ProviderConfig["capabilities"];

/** Requests that the gateway refuses for a provider that does not declare a capability. */
const REFUSED: Readonly<
  Record<Exclude<Capability, "reasoning_effort_levels" | "custom_tools">, string>
> = {
  chat_completions_lifecycle: "list, read, change and delete stored completions",
  responses_lifecycle: "read and delete responses that the provider stores",
  conversations: "conversations that the provider stores",
  background_responses: "background: true",
  response_cancellation: "cancel a response",
  response_compaction: "POST /v1/responses/compact",
  response_input_tokens: "POST /v1/responses/input_tokens",
  embeddings_base64: "embeddings with encoding_format base64, the default of the OpenAI SDKs",
  structured_outputs: "response_format json_schema",
  reasoning_effort: "reasoning_effort",
  adaptive_thinking: "thinking of type adaptive",
  relay: "completions, moderations, images, audio, files, batches, rerank",
  hosted_tools: "tools that the provider runs, such as web_search",
};

/** Request features that type compat refuses until the capability is declared. */
const REFUSED_OVER_COMPAT: Readonly<Partial<Record<Capability, string>>> = {
  structured_outputs: "output_config.format of Messages requests",
  reasoning_effort: "output_config.effort of Messages requests",
};

/** Capabilities for requests that only a target with the Responses API can take. */
const OVER_RESPONSES: readonly string[] = ["background_responses", "hosted_tools"];

/**
 * Returns one line for each capability that a target's provider does not declare, with what is
 * refused.
 */
function undeclaredLines({ provider, wire }: RouteTarget): readonly string[] {
  const { type, capabilities } = provider.settings;
  const used = usedCapabilities(type);
  const all = type === "compat" ? { ...REFUSED, ...REFUSED_OVER_COMPAT } : REFUSED;
  return Object.entries(all).flatMap(([name, refused]) => {
    const value = Object.entries(capabilities).find(([key]) => key === name)?.[1];
    const isOn = Array.isArray(value) ? value.length > 0 : value === true;
    const matters = used.includes(name) &&
      (wire.name === "responses" || !OVER_RESPONSES.includes(name));
    return isOn || !matters ? [] : [`off: ${name} (refuses ${refused})`];
  });
}

/**
 * Returns a line for each client key or template of tokens with a budget in USD, also of end users,
 * and each route, if the client may use targets of the route that have no price. Models that only
 * clients name are not known here.
 */
function unpricedLines(generation: Generation): string[] {
  const clients = [
    ...generation.clientKeys.map((key) => [`client key ${key.name}`, keyForSomeUser(key)] as const),
    ...tokenClients(generation).map((key) => [`template ${key.template}`, key] as const),
  ];
  const lines = clients.filter(([, key]) => hasBudget(key, "nanoUsd")).flatMap(([title, key]) =>
    generation.routes.flatMap((route) => {
      if (keyMismatch(route, key) !== null) return [];
      const names = unpricedTargets(generation, route, key);
      return names.length === 0 ? [] : [
        `${title}, route ${route.name}: ${names.join(", ")} ` +
        "has no price in pricing, so the budget in USD refuses it",
      ];
    })
  );
  return [...new Set(lines)];
}

/** Returns a client for each template of a rule, with the labels that it has without claims. */
function tokenClients({ tokens }: Generation): ClientKey[] {
  return (tokens?.issuers ?? []).flatMap((issuer) =>
    issuer.rules.map(({ template }) =>
      clientByTemplate(`${issuer.name}/`, issuer, template, template.labels)
    )
  );
}

function unpricedTargets({ config }: Generation, route: Route, key: ClientKey): string[] {
  const open = route.targets.filter(({ weight }) => weight > 0);
  const names = [...open, ...route.fallback].flatMap((target) => {
    const { provider } = target;
    const model = knownModel(target);
    const isUnpriced = model !== null &&
      refuseModel(key, provider.id, model, target.preset?.name) === null &&
      (refuseUnpriced(key, config, provider.id, model) !== null ||
        refuseTier(key, target.preset?.parameters.service_tier) !== null);
    return isUnpriced ? [`${provider.id}/${model}`] : [];
  });
  return [...new Set(names)];
}

/** Returns the model of a target for a request that names none; null if it has none. */
function knownModel(target: RouteTarget): string | null {
  return resolveModel(target, { provider: null, model: null, written: "" });
}
