import { clientApis, factsOf } from "../../src/api/registry.ts";
import { type EndpointFacts, UNKNOWN_ENDPOINT } from "../../src/core/endpoint.ts";
import type { Usage } from "../../src/core/stream/events.ts";
import { type Attempt, type CallReport, newReport } from "../../src/observe/report.ts";

/** The facts of a registered endpoint; those of an unknown one for every other path. */
export function endpointAt(path: string, method = "POST"): EndpointFacts {
  for (const api of clientApis) {
    const endpoint = api.endpoints.find((one) => one.method === method && one.path === path) ??
      (method === "GET" ? api.sockets?.find((one) => one.path === path) : undefined);
    if (endpoint !== undefined) return factsOf(api, endpoint);
  }
  return UNKNOWN_ENDPOINT;
}

/** A served chat call of 2 s with the differences given. */
export function reportOf(changes: Partial<CallReport> = {}): CallReport {
  return {
    ...newReport("id-1", "POST", "/v1/chat/completions", 0),
    endpoint: endpointAt("/v1/chat/completions"),
    route: "main",
    provider: "up",
    model: "m",
    status: 200,
    attempts: [tryOf({})],
    ms: { earlyHead: null, firstByte: 1_900, firstToken: null, upstream: 1_890, total: 2_000 },
    ...changes,
  };
}

/** A first try at `up` that went well, with the differences given. */
export function tryOf(changes: Partial<Attempt>): Attempt {
  const place = { provider: "up", key: null, isRotated: false, model: "m" };
  const base = { ...place, cause: null, number: 1, began: 5, ended: 1_895 };
  return { ...base, outcome: "success", ...changes };
}

/** Tokens of a call: 1000 in, of which 300 were cached and 200 are cached now, and 50 out. */
export const USAGE: Usage = {
  input: 1_000,
  output: 50,
  total: 1_050,
  cached: 300,
  cacheWrite: 200,
  reasoning: 0,
};
