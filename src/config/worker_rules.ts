import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseBoolean, parseNumber } from "./fields.ts";
import type { Problem } from "./problems.ts";

/** Stores that belong to one process. */
const OWN_STORES: readonly unknown[] = ["memory", "sqlite"];

/**
 * Returns the problems of several workers with other settings. Takes the value before defaults. `auto`
 * counts as several, so that a file is valid on each machine or on none.
 */
export function workerProblems({ server, state, admin }: JsonObject): Problem[] {
  if (!isObject(server) || !hasSeveral(server.workers)) return [];
  const store = isObject(state) ? state.store ?? "memory" : "memory";
  return [
    ...!OWN_STORES.includes(store) ? [] : [
      problem(
        `must be 1 while state.store is ${store}, which belongs to one process; ` +
          "set state.store to valkey, which all workers share, or to none, which stores nothing",
      ),
    ],
    ...isObject(admin) && parseBoolean(admin.enabled) === true
      ? [problem("must be 1 while admin.enabled is true: the page shows a single process")]
      : [],
  ];
}

/** True for `auto` and for a number above 1. */
function hasSeveral(workers: unknown): boolean {
  const written = typeof workers === "string" ? workers.trim() : workers;
  const count = parseNumber(written);
  return written === "auto" || typeof count === "number" && count > 1;
}

function problem(text: string): Problem {
  return { path: ["server", "workers"], text, at: "value" };
}
