import type { JsonObject, JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { Format, Prompt } from "../../prompt/prompt.ts";
import type { Encoding } from "../wire.ts";

/** Input of a section. */
export interface SectionInput extends Pick<Encoding, "target" | "carrier"> {
  readonly prompt: Prompt;
}

/** Minimum `max_output_tokens` (Responses API, create). */
const MIN_OUTPUT_TOKENS = 16;

/** Returns `max_output_tokens`, for which the newer field of Chat has precedence. */
export function limit(
  { prompt: { limits: { completion, legacy } }, carrier }: SectionInput,
): Result<JsonObject> {
  const given = completion ?? legacy;
  if (given === null) return success({});
  const isLost = legacy !== null && legacy.value !== given.value;
  const refused = isLost ? carrier.apply(legacy.at) : null;
  if (refused !== null) return refused;
  return given.value < MIN_OUTPUT_TOKENS
    ? carrier.refuse(
      given.at,
      `The provider's minimum is ${MIN_OUTPUT_TOKENS}; send a higher limit.`,
    )
    : success({ max_output_tokens: given.exact });
}

/** Returns `temperature` and `top_p`, with the provider's defaults. */
export function sampling(
  { prompt, target: { provider: { settings } } }: SectionInput,
): Result<JsonObject> {
  const temperature = prompt.sampling.temperature?.exact ?? settings.temperature;
  const top_p = prompt.sampling.topP?.exact ?? settings.top_p;
  return success({
    ...temperature !== undefined && { temperature },
    ...top_p !== undefined && { top_p },
  });
}

/** Returns `reasoning.effort`. */
export function reasoning({ prompt: { effort } }: SectionInput): Result<JsonObject> {
  return success(effort === null ? {} : { reasoning: { effort: effort.value } });
}

/** Returns `text`: the format and verbosity of the response. */
export function text({ prompt: { format, verbosity }, carrier }: SectionInput): Result<JsonObject> {
  const encoded = format === null ? success(null) : encodeFormat(format, carrier);
  if (!encoded.ok) return encoded;
  if (encoded.value === null && verbosity === null) return success({});
  return success({
    text: {
      ...encoded.value !== null && { format: encoded.value },
      ...verbosity !== null && { verbosity: verbosity.value },
    },
  });
}

/** Returns a format without the nested object of Chat. */
function encodeFormat(format: Format, carrier: Carrier): Result<JsonObject> {
  if (format.kind !== "json_schema") return success({ type: format.kind });
  const { at, name, description, schema, strict } = format;
  if (name === null) return carrier.refuseAbsent(`${at.path}.json_schema.name`);
  return success({
    type: "json_schema",
    name: name.value,
    ...description !== null && { description: description.value },
    schema: schema.value,
    ...strict !== null && { strict: strict.value },
  });
}

/** Returns the fields with the same name and meaning in Chat and Responses. */
export function sameFields({ prompt: { labels } }: SectionInput): Result<JsonObject> {
  const fields: Readonly<Record<string, JsonValue>> = {
    metadata: labels.metadata,
    service_tier: labels.serviceTier?.value ?? null,
    user: labels.user?.value ?? null,
    safety_identifier: labels.safetyIdentifier?.value ?? null,
    prompt_cache_key: labels.cacheKey,
    prompt_cache_retention: labels.cacheRetention,
    prompt_cache_options: labels.cacheOptions,
    moderation: labels.moderation,
  };
  return success(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)));
}

/** Returns `stream`. Usage need not be requested: every terminal event contains it. */
export function streaming({ prompt: { stream, isUnpadded } }: SectionInput): Result<JsonObject> {
  if (!stream) return success({});
  return success({
    stream: true,
    ...isUnpadded && { stream_options: { include_obfuscation: false } },
  });
}
