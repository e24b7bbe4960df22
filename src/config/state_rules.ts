import { resolve } from "node:path";
import { parseEncryptionKey } from "../formats/encryption_key.ts";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseBoolean } from "./fields.ts";
import type { Path, Problem } from "./problems.ts";
import type { WrittenConfig } from "./schema.ts";
import { caFileProblem, type Outside } from "./tls_rules.ts";

const SCHEMES = ["redis:", "rediss:", "valkey:", "valkeys:"];

/** Path of a URL that selects a database by its number. */
const DATABASE_PATH = /^\/(\d{0,4})$/;

/** Keys of a client certificate, which the TLS of the runtime does not take safely. */
const IDENTITY_KEYS = ["cert_file", "key_file"] as const;

/** Returns the problems between the keys of `state`. Takes the value before defaults. */
export function stateProblems(state: unknown, outside: Outside): Problem[] {
  if (!isObject(state)) return [];
  const { encryption_keys, valkey } = state;
  return [
    ...keyProblems(encryption_keys),
    ...isObject(valkey) ? valkeyProblems(valkey, outside) : [],
  ];
}

function problem(path: Path, text: string, at: Problem["at"] = "value"): Problem {
  return { path: ["state", ...path], text, at };
}

function keyProblems(keys: unknown): Problem[] {
  if (!Array.isArray(keys)) return [];
  const seen = new Set<string>();
  return keys.flatMap((text, index): Problem[] => {
    if (typeof text !== "string") return [];
    const key = parseEncryptionKey(text);
    const path = ["encryption_keys", index];
    if (key === null) {
      return [
        problem(path, "must be 32 bytes in base64, for example from `openssl rand -base64 32`"),
      ];
    }
    const bytes = key.join();
    const isRepeated = seen.has(bytes);
    seen.add(bytes);
    return isRepeated ? [problem(path, "is already in the list")] : [];
  });
}

function valkeyProblems(valkey: JsonObject, outside: Outside): Problem[] {
  const ca = caFileProblem(valkey.ca_file, outside.files);
  return [
    ...urlProblems(valkey),
    ...ca === null ? [] : [problem(["valkey", "ca_file"], ca)],
    ...identityProblems(valkey),
    ...sentinelProblems(valkey),
    ...clusterProblems(valkey),
  ];
}

function urlProblems({ url }: JsonObject): Problem[] {
  const text = typeof url === "string" && url.trim() !== "" ? urlProblem(url) : null;
  return text === null ? [] : [problem(["valkey", "url"], text)];
}

function urlProblem(written: string): string | null {
  const url = URL.parse(written);
  if (url === null) return "must be a URL, such as rediss://cache.example.com:6379/0";
  if (url.username !== "" || url.password !== "") {
    return "must not contain a user or a password; " +
      "use state.valkey.username and state.valkey.password";
  }
  if (!SCHEMES.includes(url.protocol)) {
    return "must begin with redis://, rediss://, valkey:// or valkeys://";
  }
  if (url.hostname === "") return "must name a host";
  if (url.search !== "" || url.hash !== "") return "must not have a query or a fragment";
  return databaseOf(url) === null
    ? "must end with the port or the number of a database, such as /0"
    : null;
}

/** Returns the number of the database that a URL selects; null if its path is no number. */
function databaseOf({ pathname }: URL): number | null {
  if (pathname === "") return 0;
  const match = DATABASE_PATH.exec(pathname);
  return match === null ? null : Number(match[1]);
}

function identityProblems(valkey: JsonObject): Problem[] {
  return IDENTITY_KEYS.flatMap((key) => {
    if (valkey[key] === undefined) return [];
    const text = "is not supported: the runtime ends the whole process on a client certificate " +
      "that it cannot use; use username and password";
    return [problem(["valkey", key], text, "key")];
  });
}

function sentinelProblems({ sentinels, master }: JsonObject): Problem[] {
  const hosts = Array.isArray(sentinels) ? sentinels : [];
  const repeated = hosts.flatMap((host, index) =>
    hosts.indexOf(host) < index
      ? [problem(["valkey", "sentinels", index], "is already in the list")]
      : []
  );
  const hasMaster = typeof master === "string" && master.trim() !== "";
  if (hosts.length > 0 && master === undefined) {
    return [...repeated, problem(["valkey", "sentinels"], "requires master", "key")];
  }
  return hosts.length === 0 && hasMaster
    ? [problem(["valkey", "master"], "requires sentinels", "key")]
    : repeated;
}

function clusterProblems({ cluster, sentinels, url }: JsonObject): Problem[] {
  if (parseBoolean(cluster) !== true) return [];
  const path = ["valkey", "cluster"];
  if (Array.isArray(sentinels) && sentinels.length > 0) {
    return [problem(path, "cannot be used together with sentinels")];
  }
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  const database = parsed === null ? 0 : databaseOf(parsed) ?? 0;
  return database === 0 ? [] : [problem(path, "has only database 0; remove the number from url")];
}

/**
 * Returns the state settings with the path of the CA file from the directory of the configuration.
 * An empty password, mostly of a variable that is not set, is absent.
 */
export function completeState(
  { valkey, ...state }: WrittenConfig["state"],
  { directory }: Outside,
): WrittenConfig["state"] {
  const { ca_file, password, ...rest } = valkey;
  return {
    ...state,
    valkey: {
      ...rest,
      ...password === undefined || password === "" ? {} : { password },
      ...ca_file === undefined ? {} : { ca_file: resolve(directory, ca_file) },
    },
  };
}
