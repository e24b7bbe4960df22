import type { ConfigName } from "./configs.ts";
import { type Behaviour, chatRequest, RECORDS, responsesRequest } from "./payloads.ts";

/** What is put under load: the bare proxy, or a gateway with a configuration. */
export type SystemName = "floor" | ConfigName;

/** What a row has to reach: at least this ratio of rates, or at most so many µs more at p50. */
export type Target = { readonly ratio: number } | { readonly above: number };

/** What is asked of a system. */
export interface Asked {
  readonly path: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Two systems under the same load. */
export interface Scenario {
  readonly name: string;
  readonly connections: number;
  readonly asked: Asked;
  /** What the measured system is asked instead; null: the same. */
  readonly otherwise: Asked | null;
  /** What one answer counts for: a request, or its records. */
  readonly units: number;
  /** The time that counts: until the whole answer, or until its first byte. */
  readonly until: "total" | "first";
  readonly base: SystemName;
  readonly measured: SystemName;
  readonly target: Target | null;
}

const KILO = 1000;
const CHAT = "/v1/chat/completions";

function json(size: number, settings: Partial<Scenario>): Scenario {
  const asked = { path: CHAT, body: chatRequest("json", size) };
  return { ...PLAIN, asked, name: `json ${size / KILO} kB`, ...settings };
}

function stream(behaviour: Behaviour, settings: Partial<Scenario>): Scenario {
  const asked = { path: CHAT, body: chatRequest(behaviour, KILO) };
  return { ...PLAIN, asked, units: RECORDS, ...settings };
}

const PLAIN: Scenario = {
  name: "",
  connections: 16,
  asked: { path: CHAT, body: new Uint8Array(0) },
  otherwise: null,
  units: 1,
  until: "total",
  base: "floor",
  measured: "one",
  target: null,
};

/** Every comparison, in the order in which it is run. */
export const scenarios: readonly Scenario[] = [
  json(KILO, { name: "small" }),
  json(KILO, { name: "small-1", connections: 1, target: { above: 150 } }),
  json(20 * KILO, { name: "20k", target: { ratio: 0.5 } }),
  json(200 * KILO, { name: "200k", target: { ratio: 0.35 } }),
  stream("sse-1", { name: "sse", target: { ratio: 0.7 } }),
  stream("sse-8", { name: "sse-8", target: { ratio: 0.4 } }),
  stream("sse-short", { name: "first", connections: 1, units: 1, until: "first" }),
  stream("sse-1", { name: "translate", measured: "translate" }),
  stream("sse-1", {
    name: "responses",
    measured: "translate",
    otherwise: { path: "/v1/responses", body: responsesRequest(KILO) },
  }),
  json(20 * KILO, {
    name: "ten-targets",
    base: "one",
    measured: "ten-targets",
    target: { ratio: 0.9 },
  }),
  json(20 * KILO, { name: "hundred-routes", base: "one", measured: "hundred-routes" }),
  json(KILO, { name: "dashboard", base: "one", measured: "dashboard", target: { ratio: 0.85 } }),
];
