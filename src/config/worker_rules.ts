import { isObject, type JsonObject } from "../core/json/json.ts";
import { parseBoolean, parseNumber } from "./fields.ts";
import { CLIENT_KEYS_PATH } from "./client_key_rules.ts";
import type { Path, Problem } from "./problems.ts";
import type { BudgetConfig, Config, TemplateConfig } from "./schema.ts";

/** Stores that belong to one process. */
const OWN_STORES: readonly unknown[] = ["memory", "sqlite"];

/**
 * Returns the problems of several workers with other settings. Takes the value before defaults.
 * `auto` counts as several, so that a file is valid on each machine or on none.
 */
export function workerProblems({ server, state, admin }: JsonObject): Problem[] {
  if (!isObject(server) || !hasSeveralWorkers(server.workers)) return [];
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
export function hasSeveralWorkers(workers: unknown): boolean {
  const written = typeof workers === "string" ? workers.trim() : workers;
  const count = parseNumber(written);
  return written === "auto" || typeof count === "number" && count > 1;
}

function problem(text: string): Problem {
  return { path: ["server", "workers"], text, at: "value" };
}

/**
 * Returns a warning for each divided limit that is less than the number of workers, because each
 * permits 1, and for body memory of which the shares have room for less than an upload.
 */
export function workerWarnings(config: Config): Problem[] {
  const { workers } = config.server;
  return workers === "auto"
    ? []
    : [...warnOfBodyMemory(config.server, workers), ...warnOfLimits(config, workers)];
}

function warnOfBodyMemory(
  { max_body_memory, max_upload }: Config["server"],
  workers: number,
): Problem[] {
  const together = workers * Math.min(max_upload, max_body_memory);
  return together <= max_body_memory ? [] : [{
    path: ["server", "max_body_memory"],
    text:
      `is less than server.workers times server.max_upload: each of the ${workers} workers has room ` +
      `for one upload, so that all together may hold ${together} bytes`,
    at: "value",
  }];
}

function warnOfLimits(config: Config, workers: number): Problem[] {
  return dividedLimits(config).flatMap(([path, limit]) =>
    limit === undefined || limit >= workers ? [] : [{
      path,
      text: `is less than server.workers: each of the ${workers} workers permits 1`,
      at: "value",
    }]
  );
}

type Limit = readonly [path: Path, limit: number | undefined];

/** Returns the limits that are divided among workers, and that a file may set to a few. */
function dividedLimits(config: Config): Limit[] {
  const { server, state, providers, caching, rate_limiting } = config;
  const ofProcess: Limit[] = [
    [["server", "max_concurrent_requests"], server.max_concurrent_requests],
    [["server", "max_sockets_per_client"], server.max_sockets_per_client],
    ...Object.entries(providers).flatMap(([id, { max_concurrent, max_queued }]): Limit[] => [
      [["providers", id, "max_concurrent"], max_concurrent],
      // 0 is divided too: then no request waits in any worker.
      [["providers", id, "max_queued"], max_queued === 0 ? undefined : max_queued],
    ]),
    ...caching.enabled && caching.max_size > 0
      ? [[["caching", "max_size"], caching.max_size] as const]
      : [],
  ];
  if (state.store !== "none") return ofProcess;
  const { enabled, requests_per_minute, burst_size } = rate_limiting;
  return [
    ...ofProcess,
    ...enabled
      ? [
        [["rate_limiting", "requests_per_minute"], requests_per_minute] as const,
        [["rate_limiting", "burst_size"], burst_size] as const,
      ]
      : [],
    ...clientLimits(config),
  ];
}

/** Returns the limits of client keys and groups, which are divided without a state store. */
function clientLimits({ security: { api_key, groups, templates } }: Config): Limit[] {
  return [
    ...api_key.keys.flatMap((key, index) => profileLimits(key, [...CLIENT_KEYS_PATH, index])),
    ...templates.flatMap((one, index) => profileLimits(one, ["security", "templates", index])),
    ...groups.flatMap((group, index): Limit[] => [
      [["security", "groups", index, "tokens_per_minute"], group.tokens_per_minute],
      ...budgetLimits(group.budgets, ["security", "groups", index]),
    ]),
  ];
}

function profileLimits(written: TemplateConfig, path: Path): Limit[] {
  return [
    ...(["requests_per_minute", "tokens_per_minute", "max_concurrent"] as const)
      .map((name): Limit => [[...path, name], written[name]]),
    ...budgetLimits(written.budgets, path),
  ];
}

function budgetLimits(budgets: readonly BudgetConfig[], path: Path): Limit[] {
  return budgets.map(({ tokens }, index) => [[...path, "budgets", index, "tokens"], tokens]);
}
