import type { ConfigName } from "./configs.ts";
import {
  chatRequest,
  messagesRequest,
  responsesRequest,
  STREAM_RECORDS,
  type UpstreamBehaviour,
} from "./payloads.ts";

/** A system under load: the bare proxy, or a gateway with a configuration. */
export type SystemName = "floor" | ConfigName;

/** The target of a scenario: a minimum ratio of rates, or a maximum of added latency at p50. */
export type ScenarioTarget =
  | { readonly kind: "min_rate_ratio"; readonly ratio: number }
  /** In microseconds at p50. */
  | { readonly kind: "max_added_latency"; readonly us: number };

/** The request that a scenario sends. */
export interface ScenarioRequest {
  readonly path: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A comparison of two systems under the same load. */
export interface Scenario {
  readonly name: string;
  readonly connections: number;
  readonly request: ScenarioRequest;
  /** The request to the measured system if it differs; null if both receive the same. */
  readonly measuredRequest: ScenarioRequest | null;
  /** The units that one response counts for in the rate: one request, or its number of records. */
  readonly unitsPerResponse: number;
  /** The measured time: until the whole response or until its first byte. */
  readonly timed: "totalMs" | "firstByteMs";
  readonly base: SystemName;
  readonly measured: SystemName;
  readonly target: ScenarioTarget | null;
}

const KB = 1000;
const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";

function jsonScenario(size: number, settings: Partial<Scenario>): Scenario {
  const request = { path: CHAT, body: chatRequest("json", size) };
  return { ...DEFAULT_SCENARIO, request, name: `json ${size / KB} kB`, ...settings };
}

function streamScenario(behaviour: UpstreamBehaviour, settings: Partial<Scenario>): Scenario {
  const request = { path: CHAT, body: chatRequest(behaviour, KB) };
  return { ...DEFAULT_SCENARIO, request, unitsPerResponse: STREAM_RECORDS, ...settings };
}

const DEFAULT_SCENARIO: Scenario = {
  name: "",
  connections: 16,
  request: { path: CHAT, body: new Uint8Array(0) },
  measuredRequest: null,
  unitsPerResponse: 1,
  timed: "totalMs",
  base: "floor",
  measured: "one",
  target: null,
};

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  jsonScenario(KB, { name: "small" }),
  jsonScenario(KB, {
    name: "small-1",
    connections: 1,
    target: { kind: "max_added_latency", us: 150 },
  }),
  jsonScenario(20 * KB, { name: "20k", target: { kind: "min_rate_ratio", ratio: 0.5 } }),
  jsonScenario(200 * KB, { name: "200k", target: { kind: "min_rate_ratio", ratio: 0.35 } }),
  streamScenario("sse-1", { name: "sse", target: { kind: "min_rate_ratio", ratio: 0.7 } }),
  streamScenario("sse-8", { name: "sse-8", target: { kind: "min_rate_ratio", ratio: 0.4 } }),
  streamScenario("sse-short", {
    name: "first",
    connections: 1,
    unitsPerResponse: 1,
    timed: "firstByteMs",
  }),
  streamScenario("sse-1", { name: "translate", measured: "translate" }),
  streamScenario("sse-1", {
    name: "responses",
    measured: "translate",
    measuredRequest: { path: "/v1/responses", body: responsesRequest(KB) },
  }),
  jsonScenario(20 * KB, {
    name: "messages",
    base: "one",
    measured: "translate",
    measuredRequest: { path: MESSAGES, body: messagesRequest("json", 20 * KB) },
    target: { kind: "min_rate_ratio", ratio: 0.9 },
  }),
  streamScenario("sse-1", {
    name: "messages-sse",
    base: "one",
    measured: "translate",
    measuredRequest: { path: MESSAGES, body: messagesRequest("sse-1", KB) },
    target: { kind: "min_rate_ratio", ratio: 0.9 },
  }),
  streamScenario("sse-1", {
    name: "messages-translate",
    request: { path: "/v1/responses", body: responsesRequest(KB) },
    base: "one",
    measuredRequest: { path: MESSAGES, body: messagesRequest("sse-1", KB) },
    target: { kind: "min_rate_ratio", ratio: 1 },
  }),
  jsonScenario(20 * KB, {
    name: "ten-targets",
    base: "one",
    measured: "ten-targets",
    target: { kind: "min_rate_ratio", ratio: 0.9 },
  }),
  jsonScenario(20 * KB, { name: "hundred-routes", base: "one", measured: "hundred-routes" }),
  jsonScenario(KB, {
    name: "dashboard",
    base: "one",
    measured: "dashboard",
    target: { kind: "min_rate_ratio", ratio: 0.85 },
  }),
];
