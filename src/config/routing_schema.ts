import * as z from "zod";
import { DEFAULT_FALLBACK_REASONS, FALLBACK_REASONS } from "../core/failure/failure.ts";
import { duration, headerName, headerValue, integer, labels, section, text } from "./fields.ts";
import { recordChoice } from "./record_schema.ts";

const STRATEGIES = [
  "weighted",
  "round-robin",
  "random",
  "least-pending",
  "lowest-latency",
  "sticky",
] as const;

/** The default of `routing.routes[].hold_bytes`. */
const HOLD_BYTES = 1024 * 1024;

/** The most that a stream may hold back: the size of a whole response, which is not streamed. */
const MAX_HOLD_BYTES = 64 * 1024 * 1024;

const path = z.string().regex(/^(?:\*|\/[^*?#\s]*\*?)$/, {
  error: "must be *, or a path that begins with / and contains * only at its end",
}).transform((written) => written.replace(/\*$/, ""));

const match = section({
  path: path.prefault("*")
    .describe("Prefix of the request path; * matches any path."),
  headers: z.record(headerName(), headerValue()).default({})
    .describe("Request headers that must all have exactly these values."),
  models: z.array(text()).min(1).optional()
    .describe("Patterns of the requested model; one must match. * matches any text."),
  key: z.array(text()).min(1).optional()
    .describe("Names of client keys; the request must have one of them."),
  labels: labels().describe("Labels that the client key must all have with exactly these values."),
});

const place = {
  provider: text().describe("ID of a configured provider."),
  model: text().optional()
    .describe(
      "Upstream model; default: the requested model, else the default_model of the provider.",
    ),
  upstream_request_type: z.enum(["chat_completions", "responses"]).default("chat_completions")
    .describe("Upstream API; responses requires a provider of type compat."),
  first_content_timeout: duration(1).optional()
    .describe(
      "Time limit to the first content of a stream; default: that of the provider.",
    ),
  context_size: integer(1).optional()
    .describe(
      "Tokens that the model can hold. A prompt that is too long for one target goes to no other whose known " +
        "size is not larger.",
    ),
};

const target = section({
  ...place,
  weight: integer(0).prefault(1).describe("Relative share of requests; 0 disables the target."),
});

const fallback = section({
  ...place,
  weight: integer(0).optional().describe("No effect: fallbacks are tried in order."),
});

const hostedTool = text().refine(
  (type) => !["function", "custom", "namespace"].includes(type),
  { error: "must be the type of a hosted tool; tools that the client runs are never left out" },
);

/** The members that a route and a named model share. */
export const routeBody = {
  strategy: z.enum(STRATEGIES).optional()
    .describe("Load-balancing strategy of the targets; default: default_strategy."),
  omit_tools: z.array(hostedTool).default([])
    .describe(
      "Types of hosted tools, such as web_search, that targets which cannot serve them do not get; " +
        "X-Gateway-Lossy names each. Without this key such a request is refused.",
    ),
  early_head: duration(1_000).optional()
    .describe(
      "Time without content after which a stream gets its head and signs of life, at least 1s; default: never.",
    ),
  hold: duration(1).optional()
    .describe(
      "Time from its first content for which a stream is held back until it is complete, so that a break in it is " +
        "retried or falls back; default: streams are delivered as they arrive.",
    ),
  hold_bytes: integer(1, MAX_HOLD_BYTES).prefault(HOLD_BYTES)
    .describe(
      "Maximum number of bytes that hold holds back; then the stream is delivered. At most 64 MiB, as much as a whole " +
        "response may have; server.max_response_memory bounds the sum of all streams.",
    ),
  record: recordChoice()
    .describe("What is recorded of the calls of the route, as record of a client key."),
  targets: z.array(target).min(1).describe("Upstreams that share the requests of the route."),
  fallback: z.array(fallback).default([])
    .describe("Upstreams tried in order after the chosen target has failed."),
  fallback_on: z.array(z.enum(FALLBACK_REASONS)).default([...DEFAULT_FALLBACK_REASONS])
    .describe(
      "Failures after which the other targets and the fallbacks are tried: outage, context_length (the prompt is " +
        "too long for the model) and content_filter (the filter of the provider has refused the call).",
    ),
};

const route = section({
  name: text().describe("Unique name of the route."),
  match: match.prefault({}).describe("Conditions of the route; all must hold."),
  ...routeBody,
});

/** Schema of `routing`: routes of requests to providers. */
export const routingSchema = section({
  default_strategy: z.enum(STRATEGIES).default("weighted")
    .describe(
      "Load-balancing strategy of routes that name none: by weight, in turn, by chance, to the target with " +
        "the fewest running calls per weight, to the fastest one, or one target for each session.",
    ),
  sessions: z.enum(["header", "agents"]).default("agents")
    .describe(
      "What names the session of a request. agents: X-Gateway-SessionID, else the headers and body members " +
        "with which agents name theirs. header: X-Gateway-SessionID only, for gateways whose clients set the " +
        "others to something else.",
    ),
  routes: z.array(route).min(1).describe("Routes; the first one that matches a request serves it."),
});
