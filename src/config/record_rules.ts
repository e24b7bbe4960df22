import { resolve } from "node:path";
import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseBoolean } from "./fields.ts";
import { type Problem, problem } from "./problems.ts";
import { chosenPlaces } from "./record_places.ts";
import { DEFAULT_RECORD_PATH } from "./record_schema.ts";
import type { Config } from "./schema.ts";
import { DEFAULT_SQLITE_PATH } from "./state_schema.ts";
import { hasSeveralWorkers } from "./worker_rules.ts";

/** Time above which `keep` is likely longer than anyone needs. */
const LONG_KEEP_MS = 30 * 24 * 60 * 60 * 1000;

/** Returns the problems of `record` with other settings. Takes the value before defaults. */
export function recordProblems({ record, state, server }: JsonObject): Problem[] {
  if (!isObject(record) || parseBoolean(record.enabled) !== true) return [];
  const stored = isObject(state) ? state : {};
  const { encryption_keys: keys } = stored;
  const hasKey = Array.isArray(keys) && keys.length > 0;
  const place = ["record", "enabled"];
  return [
    ...hasKey ? [] : [problem(
      place,
      "requires state.encryption_keys, because records have the content of calls; make a key with " +
        "`openssl rand -base64 32`",
    )],
    ...isObject(server) && hasSeveralWorkers(server.workers)
      ? [problem(place, "requires server.workers to be 1: the file belongs to one process")]
      : [],
    ...isStatePath(record.path ?? DEFAULT_RECORD_PATH, stored)
      ? [problem(["record", "path"], "must not be the file of the state store")]
      : [],
  ];
}

/** True if a path is that of the database of the state store. */
function isStatePath(path: unknown, { store, sqlite }: JsonObject): boolean {
  const written = isObject(sqlite) ? sqlite.path : undefined;
  const other = written ?? DEFAULT_SQLITE_PATH;
  return store === "sqlite" && typeof path === "string" && typeof other === "string" &&
    resolve(path) === resolve(other);
}

/** Returns a warning for each valid setting of `record` that is likely a mistake. */
export function recordWarnings(config: Config): Problem[] {
  const { record: { enabled, calls, policy, keep }, admin } = config;
  if (!enabled) return choiceWarnings(config);
  const warnings: readonly (readonly [key: string, isWarned: boolean, text: string])[] = [
    ["calls", calls === "all", "records the content of the calls of every client"],
    ["policy", policy === "none", "writes credentials that clients send in their prompts"],
    ["keep", keep > LONG_KEEP_MS, "is longer than 30 days"],
    [
      "enabled",
      admin.enabled && admin.password === undefined,
      "is true without admin.password, so that the admin page shows no record",
    ],
  ];
  return warnings.filter(([, isWarned]) => isWarned)
    .map(([key, , text]) => problem(["record", key], text));
}

/** Returns a warning for each choice that has no effect, because nothing is recorded. */
function choiceWarnings(config: Config): Problem[] {
  const text = "has no effect while record.enabled is false";
  return [
    ...config.record.calls === "none" ? [] : [problem(["record", "calls"], text)],
    ...chosenPlaces(config).map(({ path }) => problem(path, text, "key")),
  ];
}

/** True if any call of a configuration can be recorded. */
export function recordsAnything(config: Config): boolean {
  const { enabled, calls } = config.record;
  return enabled && (calls !== "none" || chosenPlaces(config).length > 0);
}
