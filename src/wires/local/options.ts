import type { ProviderConfig } from "../../config/schema.ts";
import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { GivenNumber, Prompt } from "../../prompt/prompt.ts";
import { soleLimit } from "../../prompt/sole_limit.ts";
import { allIn } from "../../prompt/read.ts";
import type { Encoding } from "../wire.ts";

/** Runtime settings that are top-level fields of the request, not members of `options`. */
const TOP_LEVEL = ["keep_alive", "truncate", "shift"];

/** The provider's own runtime settings, which no client can send. */
export interface RunSettings {
  readonly topLevel: JsonObject;
  readonly options: JsonObject;
}

/**
 * Returns the runtime settings of the provider's `extra` map. Strings that parse as a boolean or a
 * number are converted. `max_tokens` is a limit of the gateway, not a setting of the runtime.
 */
export function runSettings(settings: ProviderConfig): RunSettings {
  const { max_tokens: _ceiling, ...extra } = settings.extra;
  const entries = Object.entries(extra).map(([key, text]) => [key, parseSetting(text)] as const);
  return {
    topLevel: Object.fromEntries(entries.filter(([key]) => TOP_LEVEL.includes(key))),
    options: Object.fromEntries(entries.filter(([key]) => !TOP_LEVEL.includes(key))),
  };
}

function parseSetting(text: string): JsonValue {
  if (text === "true" || text === "false") return text === "true";
  return /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? JSON.rawJSON(text) : text;
}

/**
 * Returns the `options` of a prompt: the request's values, else the provider's defaults, else the
 * runtime settings. The runtime ignores misnamed options without an error and gives 0 and -1
 * another meaning than Chat, so both are validated here.
 */
export function encodeOptions(
  { sampling, limits, stop }: Prompt,
  { target: { provider: { settings } }, carrier }: Encoding,
): Result<JsonObject> {
  const read = allIn({
    presence: penalty(sampling.presencePenalty, carrier),
    frequency: penalty(sampling.frequencyPenalty, carrier),
    seed: seedOf(sampling.seed, carrier),
    limit: soleLimit(limits, carrier),
    stop: stopTexts(stop, carrier),
  });
  if (!read.ok) return read;
  const { presence, frequency, seed, limit } = read.value;
  const { temperature, top_p, top_k } = settings;
  const requested = {
    temperature: sampling.temperature?.exact,
    top_p: sampling.topP?.exact,
    top_k: sampling.topK?.exact,
    presence_penalty: presence?.exact,
    frequency_penalty: frequency?.exact,
    seed: seed?.exact,
    num_predict: limit?.exact,
    stop: stop === null ? undefined : [...read.value.stop],
  };
  return success({
    ...runSettings(settings).options,
    ...defined({ temperature, top_p, top_k }),
    ...defined(requested),
  });
}

function defined(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function penalty(given: GivenNumber | null, carrier: Carrier): Result<GivenNumber | null> {
  return given === null || (given.value >= -2 && given.value <= 2)
    ? success(given)
    : carrier.refuseValue(given.at.path, "must be from -2 to 2");
}

/** Returns the seed. The runtime treats a negative one as "any". */
function seedOf(given: GivenNumber | null, carrier: Carrier): Result<GivenNumber | null> {
  return given === null || given.value >= 0 ? success(given) : carrier.refuse(given.at);
}

function stopTexts(stop: Prompt["stop"], carrier: Carrier): Result<readonly string[]> {
  const texts = stop?.value ?? [];
  const empty = texts.find(({ value }) => value === "");
  return empty === undefined
    ? success(texts.map(({ value }) => value))
    : carrier.refuseValue(empty.at.path, "must not be empty");
}
