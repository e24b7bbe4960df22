import { signToken } from "../tools/issuer.ts";
import { type ConfigName, STATIC_KEY } from "./configs.ts";
import {
  chatRequest,
  dialogueRequest,
  historyRequest,
  messagesRequest,
  responsesRequest,
  STREAM_RECORDS,
  turnRequest,
  type UpstreamBehaviour,
  valueRequest,
} from "./payloads.ts";

/**
 * A system under load: the bare proxy, the program that does the least of a gateway, or gateways
 * with a configuration and a state store.
 */
export type SystemName =
  | "floor"
  | "least"
  /** The least program that translates for an upstream of the Messages API. */
  | "least-translate"
  | ConfigName
  | "sqlite"
  /** Records each call with its content. */
  | "record"
  | "valkey"
  | "limited-valkey"
  /** Gateways with rate limits over one server, behind nginx. */
  | "nginx-1"
  | "nginx-2";

/** A target of a scenario: a bound of one measured figure. */
export type ScenarioTarget =
  /** `besidePeers`: the ratio while other gateways fill the caches of the processor. */
  | { readonly kind: "min_rate_ratio"; readonly ratio: number; readonly besidePeers?: number }
  /** Of the processor time of a response. */
  | { readonly kind: "max_cpu_ratio"; readonly ratio: number }
  /** Processor time of a response above the base in microseconds. */
  | { readonly kind: "max_added_cpu"; readonly us: number }
  /** In microseconds at p50. */
  | { readonly kind: "max_added_latency"; readonly us: number }
  /** In milliseconds at p99. */
  | { readonly kind: "max_p99"; readonly ms: number };

/** The request that a scenario sends. */
export interface ScenarioRequest {
  readonly path: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Further headers. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Returns the body of a turn that continues the response with the given ID; null if each request
   * is the same.
   */
  readonly nextTurn: ((previousId: string) => Uint8Array<ArrayBuffer>) | null;
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
  readonly targets: readonly ScenarioTarget[];
}

function newRequest(path: string, body: Uint8Array<ArrayBuffer>): ScenarioRequest {
  return { path, body, headers: {}, nextTurn: null };
}

const KB = 1000;
const CHAT = "/v1/chat/completions";
const MESSAGES = "/v1/messages";
const RESPONSES = "/v1/responses";

function jsonScenario(size: number, settings: Partial<Scenario>): Scenario {
  const request = newRequest(CHAT, chatRequest("json", size));
  return { ...DEFAULT_SCENARIO, request, name: `json ${size / KB} kB`, ...settings };
}

function streamScenario(behaviour: UpstreamBehaviour, settings: Partial<Scenario>): Scenario {
  const request = newRequest(CHAT, chatRequest(behaviour, KB));
  return { ...DEFAULT_SCENARIO, request, unitsPerResponse: STREAM_RECORDS, ...settings };
}

/** Returns a small chat request with this client key or token. */
function requestOf(secret: string): ScenarioRequest {
  return {
    ...newRequest(CHAT, chatRequest("json", KB)),
    headers: { authorization: `Bearer ${secret}` },
  };
}

const DEFAULT_SCENARIO: Scenario = {
  name: "",
  connections: 16,
  request: newRequest(CHAT, new Uint8Array(0)),
  measuredRequest: null,
  unitsPerResponse: 1,
  timed: "totalMs",
  base: "floor",
  measured: "one",
  targets: [],
};

/** A dialogue that begins with 20 kB, each turn stored and continuing the previous one. */
const dialogue: ScenarioRequest = {
  path: RESPONSES,
  body: dialogueRequest(20 * KB),
  headers: {},
  nextTurn: turnRequest,
};

/** All scenarios, in the order in which they run. */
export const scenarios: readonly Scenario[] = [
  jsonScenario(KB, {
    name: "small",
    targets: [
      { kind: "min_rate_ratio", ratio: 0.9, besidePeers: 0.8 },
      { kind: "max_cpu_ratio", ratio: 1.5 },
    ],
  }),
  jsonScenario(KB, {
    name: "small-1",
    connections: 1,
    targets: [{ kind: "max_added_latency", us: 150 }],
  }),
  jsonScenario(20 * KB, { name: "20k", targets: [{ kind: "min_rate_ratio", ratio: 0.85 }] }),
  jsonScenario(200 * KB, { name: "200k", targets: [{ kind: "min_rate_ratio", ratio: 0.7 }] }),
  // What the targets leave for everything else that a gateway does.
  jsonScenario(KB, { name: "least", measured: "least" }),
  jsonScenario(20 * KB, { name: "least-20k", measured: "least" }),
  jsonScenario(200 * KB, { name: "least-200k", measured: "least" }),
  jsonScenario(KB, { name: "least-translate", measured: "least-translate" }),
  streamScenario("sse-1", { name: "sse", targets: [{ kind: "min_rate_ratio", ratio: 1.5 }] }),
  streamScenario("sse-8", { name: "sse-8", targets: [{ kind: "min_rate_ratio", ratio: 0.4 }] }),
  streamScenario("sse-short", {
    name: "first",
    connections: 1,
    unitsPerResponse: 1,
    timed: "firstByteMs",
    targets: [{ kind: "max_p99", ms: 5 }],
  }),
  jsonScenario(KB, {
    name: "translate-whole",
    measured: "translate",
    targets: [{ kind: "min_rate_ratio", ratio: 0.7 }],
  }),
  streamScenario("sse-1", {
    name: "translate",
    measured: "translate",
    targets: [{ kind: "min_rate_ratio", ratio: 0.6 }],
  }),
  streamScenario("sse-1", {
    name: "responses",
    measured: "translate",
    measuredRequest: newRequest(RESPONSES, responsesRequest(KB)),
  }),
  jsonScenario(20 * KB, {
    name: "messages",
    base: "one",
    measured: "translate",
    measuredRequest: newRequest(MESSAGES, messagesRequest("json", 20 * KB)),
    targets: [{ kind: "min_rate_ratio", ratio: 0.9 }],
  }),
  streamScenario("sse-1", {
    name: "messages-sse",
    base: "one",
    measured: "translate",
    measuredRequest: newRequest(MESSAGES, messagesRequest("sse-1", KB)),
    targets: [{ kind: "min_rate_ratio", ratio: 0.9 }],
  }),
  streamScenario("sse-1", {
    name: "messages-translate",
    request: newRequest(RESPONSES, responsesRequest(KB)),
    base: "one",
    measuredRequest: newRequest(MESSAGES, messagesRequest("sse-1", KB)),
    targets: [{ kind: "min_rate_ratio", ratio: 1 }],
  }),
  jsonScenario(20 * KB, {
    name: "ten-targets",
    base: "one",
    measured: "ten-targets",
    targets: [{ kind: "min_rate_ratio", ratio: 0.9 }],
  }),
  jsonScenario(20 * KB, { name: "hundred-routes", base: "one", measured: "hundred-routes" }),
  jsonScenario(KB, {
    name: "dashboard",
    base: "one",
    measured: "dashboard",
    targets: [{ kind: "min_rate_ratio", ratio: 0.85 }],
  }),
  // With one page open.
  jsonScenario(KB, {
    name: "admin",
    base: "one",
    measured: "admin",
    targets: [{ kind: "min_rate_ratio", ratio: 0.95 }],
  }),
  // A token that is verified already, compared with a client key of the same gateway.
  {
    ...DEFAULT_SCENARIO,
    name: "token",
    connections: 1,
    request: requestOf(STATIC_KEY),
    measuredRequest: requestOf(signToken()),
    base: "tokens",
    measured: "tokens",
    targets: [{ kind: "max_added_latency", us: 10 }],
  },
  jsonScenario(20 * KB, {
    name: "record-20kB",
    base: "one",
    measured: "record",
    targets: [{ kind: "min_rate_ratio", ratio: 0.95 }],
  }),
  jsonScenario(KB, {
    name: "privacy-off",
    base: "one",
    measured: "privacy-off",
    targets: [{ kind: "min_rate_ratio", ratio: 0.95 }],
  }),
  jsonScenario(20 * KB, { name: "privacy-20kB", base: "one", measured: "privacy" }),
  // The request has a value, so that the stream is searched for its token.
  ...(["privacy", "privacy-answers"] as const).map((measured) =>
    streamScenario("sse-1", {
      name: measured === "privacy" ? "privacy-stream" : measured,
      request: newRequest(CHAT, valueRequest("sse-1")),
      base: "one",
      measured,
    })
  ),
  // Two spans of a call, sent in batches to a collector that accepts them.
  jsonScenario(KB, {
    name: "spans",
    base: "one",
    measured: "spans",
    targets: [{ kind: "max_added_cpu", us: 30 }],
  }),
  {
    ...DEFAULT_SCENARIO,
    name: "state-turn-memory",
    base: "one",
    request: newRequest(RESPONSES, historyRequest(20 * KB)),
    measuredRequest: dialogue,
  },
  {
    ...DEFAULT_SCENARIO,
    name: "state-turn-sqlite",
    base: "one",
    measured: "sqlite",
    request: dialogue,
    targets: [{ kind: "min_rate_ratio", ratio: 0.5 }],
  },
  {
    ...DEFAULT_SCENARIO,
    name: "state-turn-valkey",
    base: "one",
    measured: "valkey",
    request: dialogue,
    targets: [{ kind: "min_rate_ratio", ratio: 0.6 }],
  },
  jsonScenario(KB, { name: "rate-valkey", base: "limited", measured: "limited-valkey" }),
  jsonScenario(KB, {
    name: "rate-valkey-1",
    connections: 1,
    base: "limited",
    measured: "limited-valkey",
  }),
  jsonScenario(KB, { name: "replicas", base: "nginx-1", measured: "nginx-2" }),
];
