import { z } from "zod";
import { headerName, headerValue, integer, section, text } from "./fields.ts";

const STRATEGIES = ["weighted", "round-robin", "random"] as const;

const path = z.string().regex(/^(?:\*|\/[^*?#\s]*\*?)$/, {
  error: "must be *, or a path that begins with / and holds * only at its end",
}).transform((written) => written.replace(/\*$/, ""));

const match = section({
  path: path.prefault("*")
    .describe("What the path of the request begins with; * is any."),
  headers: z.record(headerName(), headerValue()).default({})
    .describe("Headers that must all have exactly these values."),
  models: z.array(text()).min(1).optional()
    .describe("Requested models, of which one must be equal; * stands for any text."),
});

const place = {
  provider: text().describe("The ID of a configured provider."),
  model: text().optional()
    .describe("The model; else the requested one, else the default_model of the provider."),
  upstream_request_type: z.enum(["chat_completions", "responses"]).default("chat_completions")
    .describe("The API that is asked upstream; responses only at providers of type compat."),
};

const target = section({
  ...place,
  weight: integer(0).prefault(1).describe("The share of requests; 0 takes the target out."),
});

const fallback = section({
  ...place,
  weight: integer(0).optional().describe("Has no meaning: fallbacks are tried in their order."),
});

const route = section({
  name: text().describe("The name, unique among the routes."),
  match: match.prefault({}).describe("What a request must have to take this route."),
  strategy: z.enum(STRATEGIES).optional()
    .describe("How the targets share the requests; default_strategy when absent."),
  targets: z.array(target).min(1).describe("The upstreams that share the requests."),
  fallback: z.array(fallback).default([])
    .describe("The upstreams tried in order when the chosen target fails."),
});

/** Where requests go. */
export const routingSchema = section({
  default_strategy: z.enum(STRATEGIES).default("weighted")
    .describe("How the targets of a route share its requests."),
  routes: z.array(route).min(1).describe("The routes; the first that matches a request takes it."),
});
