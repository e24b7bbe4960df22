import type { JsonObject } from "../../core/json/json.ts";
import { type Result, success } from "../../core/failure/result.ts";
import type { Prompt } from "../../prompt/prompt.ts";
import { soleLimit } from "../../prompt/sole_limit.ts";
import { sentStops } from "../verified/stop_promises.ts";
import { MAX_OUTPUT_TOKENS } from "../../data/known_models.ts";
import type { Encoding } from "../wire.ts";

/** Input of a section: the prompt, and what it is encoded with. */
export interface SectionInput extends Encoding {
  readonly prompt: Prompt;
}

/** Maximum length of `metadata.user_id` (Messages API, create). */
const MAX_USER_CHARS = 256;

/** Default `max_tokens`: every current model supports this output length. */
const DEFAULT_MAX_TOKENS = 32_000;

/** Returns `max_tokens`, which the Messages API requires. A client's value is never changed. */
export function limits({ prompt, target, carrier }: SectionInput): Result<JsonObject> {
  const limit = soleLimit(prompt.limits, carrier);
  if (!limit.ok) return limit;
  return success({ max_tokens: limit.value?.value ?? defaultMaxTokens(target) });
}

/**
 * Returns the `max_tokens` for a request without a limit: the provider's configured value, else the
 * model's maximum. It never exceeds a known model maximum, nor that of a named model.
 */
function defaultMaxTokens({ model, named, provider: { settings } }: Encoding["target"]): number {
  const ceiling = MAX_OUTPUT_TOKENS.get(model.replace(/-(?:\d{8}|latest)$/, ""));
  const most = named?.preset.maxOutput ?? Infinity;
  const configured = settings.extra.max_tokens ?? "";
  const requested = /^0*[1-9]\d*$/.test(configured) ? Number(configured) : null;
  return Math.min(requested ?? ceiling ?? DEFAULT_MAX_TOKENS, ceiling ?? Infinity, most);
}

/** Returns `temperature`, `top_p` and `top_k`. The provider's defaults apply to the first two. */
export function sampling({ prompt, target, carrier }: SectionInput): Result<JsonObject> {
  const { settings } = target.provider;
  const { temperature, topP: top_p, topK: top_k } = prompt.sampling;
  const isGone = settings.api_version === "2026-10-21";
  const sent: JsonObject = {};
  for (const [key, given] of Object.entries({ temperature, top_p, top_k })) {
    if (given === null) continue;
    const { value, exact, at } = given;
    if (isGone) return carrier.refuse(at, "This version of the API has no sampling fields.");
    const most = key === "temperature" ? 2 : key === "top_p" ? 1 : Infinity;
    if (value < 0 || value > most) {
      const range = most === Infinity ? "at least 0" : `between 0 and ${most}`;
      return carrier.refuseValue(at.path, `must be ${range}`);
    }
    // Clamping would change the meaning of the request without an error.
    if (key === "temperature" && value > 1) {
      return carrier.refuse(at, "The provider's range is 0 to 1.");
    }
    sent[key] = exact;
  }
  if (!isGone) {
    sent.temperature ??= settings.temperature;
    sent.top_p ??= settings.top_p;
  }
  return success(sent);
}

/**
 * Returns `stop_sequences`. The API refuses a sequence of white space, for which the gateway
 * searches in the response.
 */
export function stops({ prompt, target, carrier }: SectionInput): Result<JsonObject> {
  const { verify } = target.provider.settings;
  const sent = sentStops(prompt.stop, { isSent: (text) => text.trim() !== "", verify, carrier });
  if (!sent.ok) return sent;
  return success(sent.value.length === 0 ? {} : { stop_sequences: [...sent.value] });
}

/** Returns `metadata.user_id`, from either of its two Chat fields. */
export function caller({ prompt: { labels }, carrier }: SectionInput): Result<JsonObject> {
  const { user, safetyIdentifier: safety } = labels;
  for (const id of [user, safety]) {
    // A character has at most two units.
    if (id === null || id.value.length <= MAX_USER_CHARS) continue;
    if (id.value.length > 2 * MAX_USER_CHARS || [...id.value].length > MAX_USER_CHARS) {
      return carrier.refuse(id.at, `It may have at most ${MAX_USER_CHARS} characters.`);
    }
  }
  if (user !== null && safety !== null && user.value !== safety.value) {
    return carrier.refuse(safety.at, "It must equal 'user' when both are sent.");
  }
  const id = user ?? safety;
  return success(id === null ? {} : { metadata: { user_id: id.value } });
}

/** Returns `service_tier`, which has two values: the standard tier and the upstream's default. */
export function tier(
  { prompt: { labels: { serviceTier } }, carrier }: SectionInput,
): Result<JsonObject> {
  if (serviceTier === null || serviceTier.value === "auto") return success({});
  return serviceTier.value === "default"
    ? success({ service_tier: "standard_only" })
    : carrier.refuse(serviceTier.at);
}

/** Returns `cache_control` of the request, which marks its last block (Messages API, create). */
export function cacheControl({ prompt: { labels } }: SectionInput): Result<JsonObject> {
  const mark = labels.cacheControl;
  if (mark === null) return success({});
  return mark.ok ? success({ cache_control: mark.value.value }) : mark;
}
