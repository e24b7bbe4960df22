import * as z from "zod";
import { decimal, flag, integer, section, text } from "./fields.ts";
import { routeBody } from "./routing_schema.ts";

/** Pattern of the name of a named model; `*` matches any text of a requested model. */
export const MODEL_NAME = /^[A-Za-z0-9*][A-Za-z0-9._:/*-]{0,127}$/;

/** Maximum length of `models.*.system`: it is part of each request. */
const MAX_SYSTEM_CHARS = 64 * 1024;

const parameters = section({
  effort: text().optional().describe("Level of reasoning effort, such as high."),
  temperature: decimal(0, 2).optional().describe("Sampling temperature."),
  top_p: decimal(0, 1).optional().describe("Share of the probability that is sampled from."),
  top_k: integer(0).optional().describe("Number of tokens that are sampled from."),
  max_tokens: integer(1).optional().describe("Maximum number of tokens of a response."),
  service_tier: text().optional().describe("Service tier, such as default or priority."),
  verbosity: text().optional().describe("Verbosity of the response, such as low."),
  parallel_tool_calls: flag().optional()
    .describe("False permits one tool call at a time; for requests with tools."),
  stop: z.array(z.string().min(1)).min(1).optional().describe(
    "Texts at which a response ends.",
  ),
});

const namedModel = section({
  display_name: text().optional().describe("Name in the lists of models; default: the name."),
  context_size: integer(1).optional()
    .describe("Tokens of a prompt and its response, for the lists of models and for agents."),
  max_output: integer(1).optional()
    .describe(
      "Maximum tokens of a response: a request for more gets so many, and X-Gateway-Lossy names the " +
        "field; a Messages request for more is refused with the vendor's sentence.",
    ),
  parameters: parameters.prefault({}).describe("Values for requests that do not set their own."),
  system: text().max(MAX_SYSTEM_CHARS).optional()
    .describe("Instructions for the model, sent after those of the client."),
  response_model: z.enum(["served", "requested"]).default("served")
    .describe(
      "Model that responses name: the one that served the request, or the requested name. " +
        "X-Gateway-Model is always the first.",
    ),
  ...routeBody,
});

/** Schema of `models`: named models, each a route body with what it adds to requests. */
export const modelsSchema = z.record(
  z.string().regex(MODEL_NAME, {
    error: "must be 1 to 128 letters, digits and ._:/-*, and begin with a letter, a digit or *",
  }),
  namedModel,
);
