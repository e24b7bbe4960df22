import type { JsonObject } from "../../../src/core/json/json.ts";
import type { Format } from "../../../scripts/soak/answers/read.ts";

/** A provider type of the matrix; `native` is a compat provider whose Responses API is used. */
export type ProviderType = "compat" | "messages" | "local" | "native";

/** How an answer reaches the client. */
export type Delivery = "JSON" | "stream" | "bytes" | "WebSocket";

/** One kind of call: a client API with a delivery, over one provider type. */
export interface Column {
  /** Client API and delivery, such as `chat stream`. */
  readonly call: string;
  readonly type: ProviderType;
  readonly delivery: Delivery;
  readonly path: string;
  readonly body: JsonObject;
  /** Format of the answer; null if it is checked as a whole. */
  readonly format: Exclude<Format, "local"> | null;
  /** True if the provider stores something for the call. */
  readonly isStateful: boolean;
}

/** The provider types in the order of the page. */
export const TYPES: readonly ProviderType[] = ["compat", "messages", "local", "native"];

/** Text of the client, which the simulator repeats. */
export const TEXT = "Alpha beta gamma delta epsilon zeta eta theta.";

/** Returns the model of a route; the simulator repeats the last message. */
function modelOf(type: ProviderType): string {
  return `claude-${type}`;
}

const MESSAGES = [{ role: "user", content: TEXT }];

function generating(type: ProviderType): readonly Column[] {
  const model = modelOf(type);
  const inBoth = (
    call: "chat" | "responses" | "messages",
    path: string,
    body: JsonObject,
    isStateful: boolean,
  ): readonly Column[] =>
    (["JSON", "stream"] as const).map((delivery) => ({
      call: `${call} ${delivery}`,
      type,
      delivery,
      path,
      body: { model, ...body, stream: delivery === "stream" },
      format: call,
      isStateful,
    }));
  return [
    ...inBoth("chat", "/v1/chat/completions", { messages: MESSAGES }, false),
    ...inBoth("responses", "/v1/responses", { input: TEXT }, type === "native"),
    ...inBoth("messages", "/v1/messages", { messages: MESSAGES, max_tokens: 100 }, false),
    {
      call: "WebSocket",
      type,
      delivery: "WebSocket",
      path: "/v1/responses",
      body: { type: "response.create", model, input: TEXT },
      format: "responses",
      isStateful: type === "native",
    },
  ];
}

function embedding(type: ProviderType): Column {
  return {
    call: "embeddings",
    type,
    delivery: "JSON",
    path: "/v1/embeddings",
    body: { model: modelOf(type), input: TEXT },
    format: null,
    isStateful: false,
  };
}

const COUNT_TOKENS: Column = {
  call: "count_tokens",
  type: "messages",
  delivery: "JSON",
  path: "/v1/messages/count_tokens",
  body: { model: modelOf("messages"), messages: MESSAGES },
  format: null,
  isStateful: false,
};

function relayed(call: string, delivery: Delivery, path: string, body: JsonObject): Column {
  return {
    call,
    type: "compat",
    delivery,
    path,
    body: { model: modelOf("compat"), ...body },
    format: null,
    isStateful: false,
  };
}

/** Every kind of call of the matrix. */
export const COLUMNS: readonly Column[] = [
  ...TYPES.flatMap(generating),
  embedding("compat"),
  embedding("local"),
  COUNT_TOKENS,
  relayed("completions JSON", "JSON", "/v1/completions", { prompt: TEXT }),
  relayed("completions stream", "stream", "/v1/completions", { prompt: TEXT, stream: true }),
  relayed("moderations", "JSON", "/v1/moderations", { input: TEXT }),
  relayed("speech bytes", "bytes", "/v1/audio/speech", { voice: "alloy", input: TEXT }),
];

const PATHS: Readonly<Record<ProviderType, string>> = {
  compat: "/compat/v1",
  messages: "/messages",
  local: "/local",
  native: "/compat/v1",
};

/** Treatment of streams by a route. */
export type Mode = "early" | "held";

/** Time until an early head, in the mode that has one. */
export const EARLY_HEAD_MS = 1_000;

/** The kinds of call that can begin early or be held. */
export const STREAM_COLUMNS: readonly Column[] = COLUMNS.filter(({ delivery, format }) =>
  format !== null && delivery !== "JSON"
);

const MODES: Readonly<Record<Mode, JsonObject>> = {
  early: { early_head: `${EARLY_HEAD_MS}ms` },
  held: { hold: "10m", hold_bytes: 16 * 1024 * 1024 },
};

const BASE = {
  providers: Object.fromEntries(TYPES.flatMap((type) =>
    [type, `${type}-2`].map((id) => [id, {
      type: type === "native" ? "compat" : type,
      base_url: `http://upstream.test${PATHS[type]}`,
      api_key: "any",
      timeout: "10s",
      stream_idle_timeout: "5s",
      capabilities: type === "compat"
        ? { relay: ["completions", "moderations", "audio"] }
        : type === "native"
        ? { responses_lifecycle: true }
        : {},
    }])
  )),
  routing: {
    routes: TYPES.map((type) => {
      const target = (provider: string) => ({
        provider,
        ...type === "native" ? { upstream_request_type: "responses" } : {},
      });
      return {
        name: type,
        match: { models: [modelOf(type)] },
        targets: [target(type)],
        fallback: [target(`${type}-2`)],
      };
    }),
  },
  retry: { max_attempts: 2, initial_delay: "10ms" },
  circuit_breaker: { enabled: false },
};

/**
 * Returns the configuration: each provider type with two attempts and a fallback of the same type.
 */
export function configFor(mode: Mode | null): string {
  return JSON.stringify({
    ...BASE,
    routing: { routes: BASE.routing.routes.map((route) => ({ ...route, ...mode && MODES[mode] })) },
  });
}

/** The configuration without a mode. */
export const CONFIG = configFor(null);
