import { isObject, type JsonObject } from "../core/json/json.ts";
import { likelyHint, type Path, type Problem, problem } from "./problems.ts";

/** Path of the list of client keys. */
export const CLIENT_KEYS_PATH = ["security", "api_key", "keys"] as const;

/**
 * Returns the problems between client keys, their groups, the labels of logs and metrics, and the
 * configured providers. `providers` are all IDs that a key may name. Takes values before defaults.
 */
export function clientKeyProblems(
  { security, observability, routing }: JsonObject,
  providers: readonly string[],
): Problem[] {
  const keys = objectsIn(keysIn(security));
  const names = namesOf(keys);
  const groups = objectsIn(isObject(security) ? security.groups : undefined);
  const templates = objectsIn(isObject(security) ? security.templates : undefined);
  const templateNames = namesOf(templates);
  return [
    ...repeatedNames(keys, CLIENT_KEYS_PATH, "key"),
    ...keys.flatMap(([index, key]) => {
      const path = [...CLIENT_KEYS_PATH, index];
      return [
        ...keyProblems(key, path),
        ...unknownNames([key.template], path, templateNames, A_TEMPLATE, "template"),
        ...profileProblems(key, path, providers),
      ];
    }),
    ...repeatedNames(templates, ["security", "templates"], "template"),
    ...templates.flatMap(([index, template]) =>
      profileProblems(template, ["security", "templates", index], providers)
    ),
    ...repeatedNames(groups, ["security", "groups"], "group"),
    ...groups.flatMap(([index, group]) =>
      groupProblems(group, ["security", "groups", index], names, templateNames)
    ),
    ...matchProblems(routing, names),
    ...repeatedLabels(observability),
  ];
}

function keysIn(security: unknown): unknown {
  return isObject(security) && isObject(security.api_key) ? security.api_key.keys : undefined;
}

/** Returns the mappings in a list, with their indices. */
function objectsIn(list: unknown): (readonly [index: number, item: JsonObject])[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown, index) => isObject(item) ? [[index, item] as const] : []);
}

function namesOf(items: readonly (readonly [index: number, item: JsonObject])[]): string[] {
  return items.flatMap(([, { name }]) => typeof name === "string" ? [name] : []);
}

function repeatedNames(
  items: readonly (readonly [index: number, item: JsonObject])[],
  path: Path,
  kind: string,
): Problem[] {
  const text = `is already the name of an earlier ${kind}`;
  return repeated(items.map(([index, { name }]) => [[...path, index, "name"], name]), text);
}

/** Returns a problem for each text that an earlier path has too. */
function repeated(values: readonly (readonly [path: Path, value: unknown])[], text: string) {
  const seen = new Set<string>();
  return values.flatMap(([path, value]): Problem[] => {
    if (typeof value !== "string") return [];
    const isRepeated = seen.has(value);
    seen.add(value);
    return isRepeated ? [problem(path, text)] : [];
  });
}

function keyProblems(key: JsonObject, path: Path): Problem[] {
  return [
    ...secretProblems(key, path),
    ...objectsIn(key.previous).flatMap(([index, secret]) =>
      secretProblems(secret, [...path, "previous", index])
    ),
  ];
}

/** Returns the problems of the members that keys and templates have. */
function profileProblems(key: JsonObject, path: Path, providers: readonly string[]): Problem[] {
  return [
    ...unknownNames(key.providers, [...path, "providers"], providers, "a configured provider"),
    ...budgetProblems(key.budgets, [...path, "budgets"]),
  ];
}

/** A key is known by its value or by the digest of it, never by two secrets. */
function secretProblems({ value, sha256 }: JsonObject, path: Path): Problem[] {
  if (value === undefined && sha256 === undefined) {
    return [problem([...path, "value"], "is required unless sha256 is set")];
  }
  if (value === undefined || sha256 === undefined) return [];
  return [problem([...path, "sha256"], "must not be set together with value", "key")];
}

function groupProblems(
  group: JsonObject,
  path: Path,
  keys: readonly string[],
  templates: readonly string[],
): Problem[] {
  return [
    ...isEmpty(group.keys) && isEmpty(group.templates)
      ? [problem([...path, "keys"], "must have a key, or templates one template")]
      : [],
    ...unknownNames(group.keys, [...path, "keys"], keys, "the name of a client key"),
    ...unknownNames(group.templates, [...path, "templates"], templates, A_TEMPLATE),
    ...budgetProblems(group.budgets, [...path, "budgets"]),
  ];
}

const A_TEMPLATE = "the name of a template";

function isEmpty(list: unknown): boolean {
  return list === undefined || Array.isArray(list) && list.length === 0;
}

function matchProblems(routing: unknown, keys: readonly string[]): Problem[] {
  return objectsIn(isObject(routing) ? routing.routes : undefined).flatMap(([index, { match }]) => {
    const path = ["routing", "routes", index, "match", "key"];
    return isObject(match) ? unknownNames(match.key, path, keys, "the name of a client key") : [];
  });
}

/** `member` is the last part of the path for a name that is in no list. */
function unknownNames(
  written: unknown,
  path: Path,
  known: readonly string[],
  what: string,
  member?: string,
): Problem[] {
  if (!Array.isArray(written)) return [];
  return written.flatMap((name: unknown, index): Problem[] => {
    if (typeof name !== "string" || name.trim() === "" || known.includes(name)) return [];
    return [problem([...path, member ?? index], `is not ${what}${likelyHint(name, known)}`)];
  });
}

function budgetProblems(written: unknown, path: Path): Problem[] {
  const budgets = objectsIn(written);
  return [
    ...repeated(
      budgets.map(([index, { per }]) => [[...path, index, "per"], per]),
      "is already the period of an earlier budget",
    ),
    ...budgets.flatMap(([index, { usd, tokens }]): Problem[] => {
      const isLimit = usd !== undefined || tokens !== undefined;
      const text = "must set usd, tokens or both";
      return isLimit ? [] : [problem([...path, index], text)];
    }),
  ];
}

function repeatedLabels(observability: unknown): Problem[] {
  const names: unknown = isObject(observability) ? observability.key_labels : undefined;
  if (!Array.isArray(names)) return [];
  const path = ["observability", "key_labels"];
  return repeated(
    names.map((name: unknown, index) => [[...path, index], name]),
    "is listed twice",
  );
}
