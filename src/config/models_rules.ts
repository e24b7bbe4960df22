import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseNumber } from "./fields.ts";
import { type Path, type Problem, problem } from "./problems.ts";
import { bodyProblems, fallbackWarnings } from "./routing_rules.ts";
import type { Config, NamedModelConfig, RouteConfig } from "./schema.ts";

/** Maximum number of named models. */
export const MAX_NAMED_MODELS = 200;

/**
 * The name by which a client leaves the model to the route, as it does without a name, unless a
 * named model has it.
 */
export const OPEN_MODEL = "auto";

/** Returns the name of the route of a named model. */
export function namedRoute(name: string): string {
  return `model:${name}`;
}

/** True if a name is a pattern of requested models, which no list shows. */
export function isPattern(name: string): boolean {
  return name.includes("*");
}

/** Returns the problems of named models. Takes values before defaults. */
export function modelsProblems({ models, routing, providers }: JsonObject): Problem[] {
  if (!isObject(models)) return [];
  const names = Object.keys(models);
  const tooMany = `must have at most ${MAX_NAMED_MODELS} named models`;
  return [
    ...names.length > MAX_NAMED_MODELS ? [problem(["models"], tooMany, "key")] : [],
    ...names.flatMap((name) => nameProblems(name, providers)),
    ...names.flatMap((name) => modelProblems(name, models[name], providers)),
    ...routeProblems(routing, new Set(names.map(namedRoute))),
  ];
}

function nameProblems(name: string, providers: unknown): Problem[] {
  const [prefix = "", ...rest] = name.split("/");
  if (rest.length === 0 || !isObject(providers) || !Object.hasOwn(providers, prefix)) return [];
  const text =
    "begins with the ID of a provider, so that its requests go to a model of that provider";
  return [problem(["models", name], text, "key")];
}

function modelProblems(name: string, model: unknown, providers: unknown): Problem[] {
  if (!isObject(model)) return [];
  const path = ["models", name];
  return [
    ...bodyProblems(model, path, providers),
    ...isPattern(name) ? [] : [
      ...openTargets(model.targets, [...path, "targets"]),
      ...openTargets(model.fallback, [...path, "fallback"]),
    ],
    ...limitProblems(model, path),
  ];
}

/** Returns a problem for each target that would send the name of the named model upstream. */
function openTargets(items: unknown, path: Path): Problem[] {
  if (!Array.isArray(items)) return [];
  const text = "needs a model: the name of the named model is not sent to providers";
  return items.flatMap((item, index) =>
    isObject(item) && item.model === undefined ? [problem([...path, index], text)] : []
  );
}

function limitProblems(
  { max_output, context_size, parameters }: JsonObject,
  path: Path,
): Problem[] {
  const most = parseNumber(max_output);
  if (typeof most !== "number") return [];
  const size = parseNumber(context_size);
  const tokens = isObject(parameters) ? parseNumber(parameters.max_tokens) : undefined;
  return [
    ...typeof size === "number" && size < most
      ? [problem([...path, "context_size"], "must not be less than max_output")]
      : [],
    ...typeof tokens === "number" && tokens > most
      ? [problem([...path, "parameters", "max_tokens"], "must not be more than max_output")]
      : [],
  ];
}

function routeProblems(routing: unknown, taken: ReadonlySet<string>): Problem[] {
  if (!isObject(routing) || !Array.isArray(routing.routes)) return [];
  return routing.routes.flatMap((route: unknown, index) => {
    const isTaken = isObject(route) && typeof route.name === "string" && taken.has(route.name);
    const path = ["routing", "routes", index, "name"];
    return isTaken ? [problem(path, "is already the name of the route of a named model")] : [];
  });
}

/** Returns a warning for each named model with a likely mistake, or with a name that wins. */
export function modelsWarnings(config: Config): Problem[] {
  const others = otherNames(config);
  return Object.entries(config.models).flatMap(([name, model]) => {
    const path = ["models", name];
    const text = others.get(name);
    return [
      ...text === undefined ? [] : [problem(path, `${text}: the named model wins`, "key")],
      ...fallbackWarnings(model, path),
    ];
  });
}

/** Returns what else has a name that clients may request. */
function otherNames({ providers, routing }: Config): ReadonlyMap<string, string> {
  const targets = routing.routes.flatMap(({ targets, fallback }) => [...targets, ...fallback]);
  const served = [
    ...targets.map(({ model = "" }) => model),
    ...Object.values(providers).flatMap(({ default_model = "", models }) => [
      default_model,
      ...models.static,
    ]),
  ];
  return new Map([
    ...served.map((name) => [name, "is also a model of a provider"] as const),
    ...Object.keys(providers).map((id) => [id, "is also the ID of a provider"] as const),
  ]);
}

/** The route of a named model. */
export interface NamedRoute {
  readonly name: string;
  readonly model: NamedModelConfig;
  readonly route: RouteConfig;
}

/**
 * Returns the routes of named models in the order in which they are searched: those of patterns
 * last.
 */
export function namedRoutes({ models }: Pick<Config, "models">): readonly NamedRoute[] {
  const routes = Object.entries(models).map(([name, model]) => {
    const match = { path: "", headers: {}, models: [name], labels: {} };
    return { name, model, route: { ...model, name: namedRoute(name), match } };
  });
  const [patterns, exact] = [true, false].map((is) =>
    routes.filter((one) => isPattern(one.name) === is)
  );
  return [...exact ?? [], ...patterns ?? []];
}
