import { resolve } from "node:path";
import { isLoopbackName } from "../core/authority.ts";
import { isObject, type JsonObject, parseJson } from "../core/json/json.ts";
import { parseBoolean } from "./fields.ts";
import { readRegularFile } from "./files.ts";
import {
  A_TEMPLATE,
  type Item,
  namesOf,
  objectsIn,
  repeated,
  unknownNames,
} from "./named_lists.ts";
import { type Path, type Problem, problem } from "./problems.ts";
import type { WrittenConfig } from "./schema.ts";
import { fileText, type Outside } from "./tls_rules.ts";

const ISSUERS = ["security", "jwt", "issuers"] as const;

/** Returns the issuers of a section `security` with their places in the list. */
export function issuersIn(security: unknown): Item[] {
  return isObject(security) && isObject(security.jwt) ? objectsIn(security.jwt.issuers) : [];
}

/** Reads the key sets of issuers that are files, relative to a directory. */
export async function readKeySetFiles(
  tree: unknown,
  directory: string,
): Promise<NonNullable<Outside["files"]>> {
  const issuers = isObject(tree) ? issuersIn(tree.security) : [];
  const names = issuers.flatMap(([, { jwks_file: name }]) => typeof name === "string" ? name : []);
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, await readRegularFile(resolve(directory, name))] as const),
    ),
  );
}

/** Returns the problems of the issuers of tokens. Takes the value before defaults. */
export function jwtProblems(security: unknown, { files }: Outside): Problem[] {
  if (!isObject(security)) return [];
  const issuers = issuersIn(security);
  const templates = namesOf(objectsIn(security.templates));
  const isOn = parseBoolean(security.enabled) === true && security.provider === "jwt";
  return [
    ...isOn && issuers.length === 0
      ? [problem(ISSUERS, "must contain at least one issuer while security.provider is jwt")]
      : [],
    ...(["name", "issuer"] as const).flatMap((member) =>
      repeated(
        issuers.map(([index, issuer]) => [[...ISSUERS, index, member], issuer[member]]),
        `is already the ${member} of an earlier issuer`,
      )
    ),
    ...issuers.flatMap(([index, issuer]) => [
      ...sourceProblems(issuer, [...ISSUERS, index], files),
      ...objectsIn(issuer.rules).flatMap(([place, rule]) =>
        unknownNames(
          [rule.template],
          [...ISSUERS, index, "rules", place],
          templates,
          A_TEMPLATE,
          "template",
        )
      ),
    ]),
  ];
}

function sourceProblems(
  { jwks_url: url, jwks_file: file }: JsonObject,
  path: Path,
  files: Outside["files"],
): Problem[] {
  if (url === undefined && file === undefined) {
    return [problem([...path, "jwks_url"], "is required unless jwks_file is set")];
  }
  if (url !== undefined && file !== undefined) {
    return [problem([...path, "jwks_file"], "must not be set together with jwks_url", "key")];
  }
  const text = url !== undefined ? urlProblem(url) : fileProblem(file, files);
  return text === null
    ? []
    : [problem([...path, url === undefined ? "jwks_file" : "jwks_url"], text)];
}

/** Over plain HTTP every machine on the way could answer with other keys. */
function urlProblem(written: unknown): string | null {
  if (typeof written !== "string") return null;
  const url = URL.parse(written);
  if (url === null) return "must be a URL";
  if (url.username !== "" || url.password !== "") return "must not have credentials";
  const isSafe = url.protocol === "https:" ||
    url.protocol === "http:" && isLoopbackName(url.hostname);
  return isSafe ? null : "must begin with https, or with http on a loopback address";
}

function fileProblem(name: unknown, files: Outside["files"]): string | null {
  if (typeof name !== "string") return null;
  const file = fileText(name, files);
  if (file === null) return null;
  if ("trouble" in file) return file.trouble;
  const set = parseJson(file.text);
  return isObject(set) && Array.isArray(set.keys)
    ? null
    : "names a file without a JSON Web Key Set";
}

/** Returns the settings with the paths of key sets from the directory of the configuration. */
export function completeIssuers(
  security: WrittenConfig["security"],
  { directory }: Outside,
): WrittenConfig["security"] {
  const issuers = security.jwt.issuers.map((issuer) =>
    issuer.jwks_file === undefined
      ? issuer
      : { ...issuer, jwks_file: resolve(directory, issuer.jwks_file) }
  );
  return { ...security, jwt: { ...security.jwt, issuers } };
}
