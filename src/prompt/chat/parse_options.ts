import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../carry.ts";
import type { FieldRef, Given, Prompt, Thinking, WebSearch } from "../prompt.ts";
import { allIn, numberIn, textOf } from "../read.ts";
import {
  contradiction,
  isEmpty,
  missing,
  type Optional,
  unsupported,
  wrongType,
} from "../refusals.ts";
import { parseCache } from "./parse_content.ts";

/** Returns a top-level field with numbers as exact text; null if it is absent or null. */
export type ExactFields = (key: string) => JsonValue;

/** Top-level fields besides the dialogue, the tools and the format. */
type Options = Pick<
  Prompt,
  | "effort"
  | "thinking"
  | "sampling"
  | "limits"
  | "stop"
  | "verbosity"
  | "logprobs"
  | "webSearch"
  | "labels"
>;

/**
 * Returns the top-level fields of a Chat request besides the dialogue, the tools and the format.
 */
export function parseOptions(
  body: JsonObject,
  exact: ExactFields,
  carrier: Carrier,
): Result<Options> {
  const number = (field: NumberField, isWhole = false) =>
    numberIn(exact(field), { field, path: field }, isWhole);
  const text = (field: TextField) => textOf(body[field], { field, path: field });
  const verbosity = body.verbosity ?? null;
  return allIn<Options>({
    thinking: parseThinking(exact("thinking"), carrier),
    effort: parseEffort(body, carrier),
    sampling: allIn({
      temperature: number("temperature"),
      topP: number("top_p"),
      topK: number("top_k", true),
      presencePenalty: number("presence_penalty"),
      frequencyPenalty: number("frequency_penalty"),
      seed: number("seed", true),
    }),
    limits: allIn({
      completion: number("max_completion_tokens", true),
      legacy: number("max_tokens", true),
    }),
    stop: parseStop(body.stop),
    verbosity: success(
      verbosity === null
        ? null
        : { value: verbosity, at: { field: "verbosity", path: "verbosity" } },
    ),
    logprobs: allIn({
      isWanted: success(body.logprobs === true),
      top: number("top_logprobs", true),
    }),
    webSearch: parseWebSearch(exact("web_search_options"), carrier),
    labels: allIn({
      user: text("user"),
      safetyIdentifier: text("safety_identifier"),
      serviceTier: text("service_tier"),
      metadata: success(exact("metadata")),
      cacheControl: success(parseCache(body, null, carrier)),
      cacheKey: success(exact("prompt_cache_key")),
      cacheRetention: success(exact("prompt_cache_retention")),
      cacheOptions: success(exact("prompt_cache_options")),
      moderation: success(exact("moderation")),
    }),
  });
}

type NumberField =
  | "temperature"
  | "top_p"
  | "top_k"
  | "presence_penalty"
  | "frequency_penalty"
  | "seed"
  | "max_completion_tokens"
  | "max_tokens"
  | "top_logprobs";

type TextField = "user" | "safety_identifier" | "service_tier";

function parseThinking(given: JsonValue, carrier: Carrier): Result<Thinking | null> {
  if (given === null) return success(null);
  if (!isObject(given)) return wrongType("thinking", "an object");
  const kind = (["enabled", "adaptive", "disabled"] as const).find((one) => one === given.type);
  if (kind === undefined) return unsupported("thinking.type");
  const at: FieldRef = {
    field: `thinking[${kind}]`,
    path: "thinking",
    refusedPath: "thinking.type",
  };
  return carrier.use(at) ?? carrier.unknown(given, `thinking[${kind}]`, "thinking") ??
    success({ kind, at, value: given });
}

/** Returns the reasoning effort from either of its two fields. */
function parseEffort(body: JsonObject, carrier: Carrier): Result<Given<string> | null> {
  const plain = body.reasoning_effort ?? null;
  const reasoning = body.reasoning ?? {};
  if (!isObject(reasoning)) return wrongType("reasoning", "an object");
  const unknown = carrier.unknown(reasoning, "reasoning", "reasoning");
  if (unknown !== null) return unknown;
  const nested = reasoning.effort ?? null;
  if (plain !== null && nested !== null && plain !== nested) {
    return contradiction(
      "reasoning.effort",
      "'reasoning_effort' and 'reasoning.effort' must be equal when both are sent.",
    );
  }
  const field = plain === null ? "reasoning.effort" : "reasoning_effort";
  const at: FieldRef = { field, path: field };
  const refused = nested === null ? null : carrier.use(at);
  return refused ?? textOf(plain ?? nested, at);
}

function parseStop(given: Optional): Result<Prompt["stop"]> {
  if (isEmpty(given)) return success(null);
  const list = Array.isArray(given) ? given : [given];
  const stops: Given<string>[] = [];
  for (const [index, value] of list.entries()) {
    const path = Array.isArray(given) ? `stop[${index}]` : "stop";
    if (typeof value !== "string") return wrongType(path, "a string");
    stops.push({ value, at: { field: "stop", path } });
  }
  return success({ value: stops, at: { field: "stop", path: "stop" } });
}

function parseWebSearch(options: JsonValue, carrier: Carrier): Result<WebSearch | null> {
  const path = "web_search_options";
  if (options === null) return success(null);
  if (!isObject(options)) return wrongType(path, "an object");
  const unknown = carrier.unknown(options, path, path);
  if (unknown !== null) return unknown;
  const at: FieldRef = { field: path, path };
  const size = textOf(options.search_context_size, { ...at, path: `${path}.search_context_size` });
  if (!size.ok) return size;
  const location = parseLocation(options.user_location ?? null, `${path}.user_location`, carrier);
  if (!location.ok) return location;
  return success({ at, contextSize: size.value?.value ?? null, location: location.value });
}

function parseLocation(
  location: JsonValue,
  path: string,
  carrier: Carrier,
): Result<JsonObject | null> {
  if (location === null) return success(null);
  if (!isObject(location)) return wrongType(path, "an object");
  if (location.type !== "approximate") return unsupported(`${path}.type`);
  const holder = "web_search_options.user_location[approximate]";
  const unknown = carrier.unknown(location, holder, path);
  if (unknown !== null) return unknown;
  const { approximate } = location;
  const at = `${path}.approximate`;
  if ((approximate ?? null) === null) return missing(at);
  if (!isObject(approximate)) return wrongType(at, "an object");
  return carrier.unknown(approximate, `${holder}.approximate`, at) ?? success(approximate);
}
