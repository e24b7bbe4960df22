import { issuersIn } from "./jwt_rules.ts";
import { CREDENTIAL_HEADERS } from "./tls_rules.ts";
import { isObject, type JsonObject } from "../core/json/json.ts";
import {
  A_TEMPLATE,
  type Item,
  namesOf,
  objectsIn,
  repeated,
  unknownNames,
} from "./named_lists.ts";
import { isForwardedHeader } from "./security_rules.ts";
import { type Path, type Problem, problem } from "./problems.ts";

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
  const keyHeader = isObject(security) && isObject(security.api_key) && security.api_key.header;
  return [
    ...repeatedNames(keys, CLIENT_KEYS_PATH, "key"),
    ...keys.flatMap(([index, key]) => {
      const path = [...CLIENT_KEYS_PATH, index];
      return [
        ...keyProblems(key, path),
        ...unknownNames([key.template], path, templateNames, A_TEMPLATE, "template"),
        ...profileProblems(key, path, providers),
        ...endUserProblems(key.end_users, [...path, "end_users"], templates, keyHeader),
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
    ...matchProblems(routing, names, namesOf(issuersIn(security))),
    ...repeatedLabels(observability),
  ];
}

function keysIn(security: unknown): unknown {
  return isObject(security) && isObject(security.api_key) ? security.api_key.keys : undefined;
}

function repeatedNames(
  items: readonly Item[],
  path: Path,
  kind: string,
): Problem[] {
  const text = `is already the name of an earlier ${kind}`;
  return repeated(items.map(([index, { name }]) => [[...path, index, "name"], name]), text);
}

function keyProblems(key: JsonObject, path: Path): Problem[] {
  return [
    ...secretProblems(key, path),
    ...objectsIn(key.previous).flatMap(([index, secret]) =>
      secretProblems(secret, [...path, "previous", index])
    ),
  ];
}

/** Members of a template that are no limits. */
const PERMISSIONS = ["models", "providers", "endpoints", "adopt_unknown", "labels", "privacy"];

function endUserProblems(
  written: unknown,
  path: Path,
  templates: readonly Item[],
  keyHeader: unknown,
): Problem[] {
  if (!isObject(written)) return [];
  const { header, template } = written;
  const secret = [...CREDENTIAL_HEADERS, String(keyHeader).toLowerCase()];
  const used = templates.find(([, { name }]) => name === template);
  const other = PERMISSIONS.find((member) => used?.[1][member] !== undefined);
  return [
    ...unknownNames([template], path, namesOf(templates), A_TEMPLATE, "template"),
    ...other === undefined ? [] : [problem(
      [...path, "template"],
      `must have only limits, and has ${other}: permissions and labels are those of the key`,
    )],
    ...typeof header === "string" && isForwardedHeader(header)
      ? [problem([...path, "header"], "must not be a header that is forwarded")]
      : [],
    ...typeof header === "string" && secret.includes(header.toLowerCase())
      ? [problem([...path, "header"], "must not be a header with a credential, which is no name")]
      : [],
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

function isEmpty(list: unknown): boolean {
  return list === undefined || Array.isArray(list) && list.length === 0;
}

/** A pattern, and the name of a client with a token, need not be that of a key. */
function matchProblems(
  routing: unknown,
  keys: readonly string[],
  issuers: readonly string[],
): Problem[] {
  const isOpen = (name: unknown) =>
    typeof name === "string" &&
    (name.includes("*") || issuers.some((issuer) => name.startsWith(`${issuer}/`)));
  return objectsIn(isObject(routing) ? routing.routes : undefined).flatMap(([index, { match }]) => {
    const path = ["routing", "routes", index, "match", "key"];
    if (!isObject(match) || !Array.isArray(match.key)) return [];
    const names = match.key.map((name: unknown) => isOpen(name) ? null : name);
    return unknownNames(names, path, keys, "the name of a client key");
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
