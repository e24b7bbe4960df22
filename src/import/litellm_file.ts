import { compileGlob } from "../core/glob.ts";
import { HOSTS } from "../data/hosts.ts";
import { ANTHROPIC_MODELS, OPENAI_MODELS } from "../data/known_models.ts";
import type { Draft } from "./draft.ts";
import type { Chains } from "./litellm_fallbacks.ts";
import type { Models } from "./litellm_models.ts";
import type { Named, Target } from "./litellm_named.ts";
import type { Providers, Settings } from "./providers.ts";
import { type Part, type Section, writeFile } from "./written_file.ts";

/** The port of LiteLLM if it was started without one. */
const LITELLM_PORT = 4_000;

const HEAD = [
  "Written by switchyard import litellm. ${NAME} is an environment variable; a file .env beside this",
  "one sets them too. The comments name the places of the source.",
];

/** Parts of the file. */
interface FileParts {
  readonly models: Models;
  /** The names of the models, then the aliases, each with what serves it. */
  readonly named: ReadonlyMap<string, Named>;
  readonly chains: Chains;
  readonly providers: Providers;
  readonly draft: Draft;
}

/** Returns the text of the file with what was read from a source. */
export function writeLitellmFile({ models, named, chains, providers, draft }: FileParts): string {
  return writeFile([...HEAD, ...draft.remarks()], [
    server(),
    ...partsOf(named, chains, providers),
    routing(models, draft.sections(["routing"])),
    ...pricing(models),
    ...draft.sections(["security", "retry", "circuit_breaker", "caching", "state", "logging"]),
  ]);
}

function partsOf(
  named: ReadonlyMap<string, Named>,
  chains: Chains,
  providers: Providers,
): readonly Section[] {
  const parts = [...named.values()].map((one) => modelPart(one.name, one, chains));
  return [
    { key: "providers", from: [], parts: listingNames(providers.parts(), named) },
    { key: "models", from: [], parts },
  ];
}

/** An address that a variable holds, which may be that of a host whose models are known. */
const VARIABLE = /^\$\{[^}]*\}$/;

/**
 * Returns the providers with those models alone that patterns serve, of the list that the gateway
 * knows of a host: LiteLLM lists the names alone, and other models are refused.
 */
function listingNames(parts: readonly Part[], named: ReadonlyMap<string, Named>): readonly Part[] {
  const open = [...named.values()].flatMap(({ name, targets, later }) =>
    [...targets, ...later].filter(({ model }) => model === undefined)
      .map(({ provider }) => ({ provider, serves: compileGlob(name) }))
  );
  const patterns = Map.groupBy(open, ({ provider }) => provider);
  return parts.map((part) => {
    const { type, base_url } = part.value as Settings;
    const [host, known] = type === "messages"
      ? [HOSTS.anthropic, ANTHROPIC_MODELS]
      : [HOSTS.openai, OPENAI_MODELS];
    const mayBeHost = base_url === host.baseUrl || VARIABLE.test(String(base_url));
    if (!mayBeHost || type === "local") return part;
    const served = known.filter((model) =>
      patterns.get(part.key)?.some(({ serves }) => serves(model))
    );
    if (served.length === known.length) return part;
    const models = { mode: "static", ...served.length > 0 && { static: served } };
    return { ...part, value: { ...part.value as Settings, models } };
  });
}

function modelPart(name: string, named: Named, chains: Chains): Part {
  const parameters: Settings = Object.keys(named.parameters).length === 0
    ? {}
    : { parameters: named.parameters };
  return {
    key: name,
    from: named.from,
    value: { ...routeBody(name, named, chains), ...parameters },
  };
}

/** Returns the route for the same models by provider and model, which LiteLLM calls so too. */
function routing({ named }: Models, strategy: readonly Part[]): Part {
  const [settings] = strategy;
  const known = new Map(
    [...named.values()].flatMap(({ name, targets, later }) =>
      [...targets, ...later].map((target) =>
        [`${target.provider}/${target.model ?? name}`, placeText(target)] as const
      )
    ),
  );
  const direct = {
    name: "by-provider",
    match: { models: [...known.keys()] },
    targets: distinct([...known.values()]),
  };
  const values = settings === undefined ? {} : settings.value as Settings;
  return {
    key: "routing",
    from: [
      `The same models as provider/model.${
        named.has("*") ? "" : " A model that is not in this file is refused."
      }`,
    ],
    value: { ...values, routes: [direct] },
  };
}

function distinct(targets: readonly Settings[]): readonly Settings[] {
  return [...new Map(targets.map((target) => [JSON.stringify(target), target])).values()];
}

function server(): Part {
  const from = [
    `LiteLLM listens on ${LITELLM_PORT} unless --port says otherwise: clients keep their address.`,
  ];
  return { key: "server", from, value: { port: LITELLM_PORT } };
}

function pricing({ pricing }: Models): readonly Section[] {
  return pricing.length === 0 ? [] : [{ key: "pricing", from: [], parts: pricing }];
}

/** Returns what a target calls. */
function placeText({ provider, model, isResponses }: Target): Settings {
  return {
    provider,
    ...model !== undefined && { model },
    ...isResponses && { upstream_request_type: "responses" },
  };
}

/** Returns a target as the file has it; a fallback has no weight. */
function targetText(target: Target, isFallback: boolean): Settings {
  const { weight, contextSize } = target;
  return {
    ...placeText(target),
    ...!isFallback && weight !== 1 && { weight },
    ...contextSize !== null && { context_size: contextSize },
  };
}

/** Returns what serves a name of the file, with what it falls back to. */
function routeBody(name: string, named: Named, chains: Chains): Settings {
  const { fallback, reasons } = chains.of(name);
  const further = [...named.later, ...fallback];
  const isUsual = reasons === null || further.length === 0;
  return {
    targets: named.targets.map((target) => targetText(target, false)),
    ...further.length > 0 && { fallback: further.map((target) => targetText(target, true)) },
    ...!isUsual && { fallback_on: reasons },
  };
}
