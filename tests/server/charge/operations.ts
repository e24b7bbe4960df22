import type { JsonObject } from "../../../src/core/json/json.ts";
import { keyOf } from "../../support/client_keys.ts";
import { keys } from "../../support/limited_gateway.ts";
import { type Counts, STOP } from "./shape.ts";
import type { SHAPES } from "./shapes.ts";

/**
 * How an attempt ends of which the client may see nothing. All but `refused` and `silent` report
 * their counts, one too late.
 */
export const FAILED_ENDS = [
  "unusable",
  "promise",
  "promise, too late counts",
  "status",
  "accepted",
  "error",
  "refused",
  "silent",
  "not streamed",
  "not streamed, large",
  "too large",
] as const;

/**
 * How the last attempt ends. Each `left` is the phase in which the client leaves; `stopped` is at a
 * stop text, of the gateway where the provider knows none, and before the counts.
 */
export const ENDS = [
  "complete",
  "stopped",
  "cut before counts",
  "cut after counts",
  "error after content",
  "unusable after content",
  "too large",
  "left waiting",
  "left after head",
  "left after content",
  "left after finish",
  "left without reading",
  "left after finish, late counts",
  "left after finish, too late counts",
  "left after counts",
  "left after the last byte",
  "left within an attempt",
] as const;

export interface Attempt extends Counts {
  readonly end: (typeof FAILED_ENDS)[number];
}

export interface Script {
  readonly operation: (typeof OPERATIONS)[number];
  readonly stream: boolean;
  readonly attempts: readonly Attempt[];
  readonly last: Counts;
  readonly end: (typeof ENDS)[number];
  /** Where a provider also sends counts of zero. */
  readonly zeros: "none" | "early" | "late";
  /** True if other records come between the end of the text and the counts. */
  readonly hasOther: boolean;
  /** True if the circuit breaker opens after two failures. */
  readonly hasBreaker: boolean;
  /** True if a complete call is repeated, from the cache where responses are cached. */
  readonly isRepeated: boolean;
}

export interface Operation {
  readonly path: string;
  readonly wire: "compat" | "messages" | "local" | "responses";
  readonly shape: keyof typeof SHAPES;
  readonly body: JsonObject;
  /** Makes the provider promise a JSON object. */
  readonly promise: JsonObject;
}

/** The members with a stop text of the operations that have one. */
const STOPS: Readonly<Record<string, JsonObject>> = {
  "/v1/chat/completions": { stop: [STOP] },
  "/v1/messages": { stop_sequences: [STOP] },
  "/v1/completions": { stop: [STOP] },
};

const CHAT: JsonObject = { model: "m", messages: [{ role: "user", content: "Hi" }] };
const JSON_OBJECT: JsonObject = { response_format: { type: "json_object" } };
const FORMAT: JsonObject = { text: { format: { type: "json_object" } } };
const WIRES = ["compat", "messages", "local", "responses"] as const;
const MULTIPART = { model: "m", file: "RIFF", multipart: true };

/** The operations with a model whose tokens a provider reports. */
export const OPERATIONS: readonly Operation[] = [
  ...WIRES.flatMap((wire): readonly Operation[] => [
    { path: "/v1/chat/completions", wire, shape: wire, body: CHAT, promise: JSON_OBJECT },
    { path: "/v1/messages", wire, shape: wire, body: { ...CHAT, max_tokens: 50 }, promise: {} },
    {
      path: "/v1/responses",
      wire,
      shape: wire,
      body: { model: "m", input: "Hi", store: false },
      promise: FORMAT,
    },
  ]),
  ...([
    ["/v1/completions", "completions", { prompt: "Hi" }],
    ["/v1/embeddings", "embeddings", { input: "Hi" }],
    ["/v1/rerank", "rerank", { query: "Hi", documents: "a" }],
    ["/v1/images/generations", "images", { prompt: "Hi" }],
    ["/v1/audio/transcriptions", "transcript", MULTIPART],
    ["/v1/audio/speech", "speech", { input: "Hi", voice: "v" }],
    ["/v1/responses/compact", "compaction", { input: "Hi" }],
  ] as const).map(([path, shape, body]): Operation => ({
    path,
    wire: "compat",
    shape,
    body: { model: "m", ...body },
    promise: {},
  })),
];

export const LIMITS = keys({
  ada: { budgets: [{ per: "day", usd: 1_000, tokens: 1_000_000_000 }] },
});

const PRICE =
  "{input: 2, output: 1, cached_input: 1, per_image: 1, per_minute: 1, per_million_characters: 1}";

export function providers({ operation: { wire, path }, hasBreaker }: Script): string {
  const isNative = wire === "responses" || path === "/v1/responses/compact";
  const type = wire === "responses" ? "compat" : wire;
  const able = type === "compat"
    ? ", capabilities: {response_compaction: true, relay: [completions, rerank, images, audio]}"
    : "";
  const settings = (name: string, keys: string) =>
    `${name}: {type: ${type}, base_url: "http://${name}"${keys}${able}, timeout: 1s}`;
  const pool = ", api_keys: [{name: a, value: sk-a}, {name: b, value: sk-b}], key_rest: 1ms";
  const via = isNative ? ", upstream_request_type: responses" : "";
  return `
providers:
  ${settings("up", type === "local" ? "" : pool)}
  ${settings("spare", type === "local" ? "" : ", api_key: sk-c")}
routing: {routes: [{name: main, targets: [{provider: up${via}}], fallback: [{provider: spare, model: m${via}}]}]}
retry: {enabled: true, max_attempts: 2, initial_delay: 1ms}
circuit_breaker: {enabled: ${hasBreaker}, failure_threshold: 2}
caching: {enabled: true}
pricing: {"up/*": ${PRICE}, "spare/*": ${PRICE}}
`;
}

export function request(
  { operation: { path, body, promise }, stream, attempts, end }: Script,
  signal: AbortSignal,
) {
  const { multipart, file, ...members } = body;
  const sent = {
    ...members,
    ...stream && (path.endsWith("speech") ? { stream_format: "sse" } : { stream: true }),
    ...attempts.some(({ end }) => end.startsWith("promise")) && promise,
    ...end === "stopped" && STOPS[path],
  };
  const form = new FormData();
  for (const [name, value] of Object.entries(sent)) form.set(name, String(value));
  form.set("file", new File([String(file)], "a.wav"));
  return new Request(`http://localhost${path}`, {
    method: "POST",
    headers: {
      host: "localhost",
      ...keyOf("ada"),
      ...path.endsWith("/compact") && { "x-gateway-provider": "up" },
    },
    body: multipart === true ? form : JSON.stringify(sent),
    signal,
  });
}
