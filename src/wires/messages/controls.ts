import type { JsonObject } from "../../core/json/json.ts";
import { numberOf } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { PastReasoning } from "../chat_request/past_reasoning.ts";
import { contradiction, unsupported, wrongType, wrongValue } from "../chat_request/refusals.ts";
import { parseStops } from "../verified/stop_promises.ts";
import type { Losses } from "../chat_request/losses.ts";
import { MAX_OUTPUT_TOKENS } from "../../data/known_models.ts";
import type { Provider } from "../wire.ts";

/** Input of a section: the client's request, the provider and the model. */
export interface SectionInput {
  /** The request body, with numbers as exact text. */
  readonly body: JsonObject;
  readonly provider: Provider;
  /** Model name of the target, without provider prefix. */
  readonly model: string;
  readonly past: PastReasoning;
  readonly losses: Losses;
  /** Types of hosted tools to leave out. */
  readonly omitTools: readonly string[];
}

/** Maximum length of `metadata.user_id` (Messages API, create). */
const MAX_USER_CHARS = 256;

/** Default `max_tokens`: every current model supports this output length. */
const DEFAULT_MAX_TOKENS = 32_000;

/** Returns `max_tokens`, which the Messages API requires. A client's value is never changed. */
export function limits({ body, provider: { settings }, model }: SectionInput): Result<JsonObject> {
  const given = ["max_completion_tokens", "max_tokens"].flatMap((key) => {
    const value = body[key] ?? null;
    return value === null ? [] : [{ key, number: numberOf(value) }];
  });
  for (const { key, number } of given) {
    if (number === null || !Number.isInteger(number)) return wrongType(key, "an integer");
    // 0 would only fill the upstream's prompt cache, without a response.
    if (number < 1) return wrongValue(key, "at least 1");
  }
  const [first, second] = given;
  if (first === undefined) {
    return success({ max_tokens: defaultMaxTokens(model, settings.extra.max_tokens) });
  }
  if (second !== undefined && first.number !== second.number) {
    return contradiction(
      "max_tokens",
      "'max_tokens' and 'max_completion_tokens' must be equal when both are sent.",
    );
  }
  return success({ max_tokens: first.number });
}

/**
 * Returns the `max_tokens` for a request without a limit: the provider's configured value, else the
 * model's maximum. It never exceeds a known model maximum.
 */
function defaultMaxTokens(model: string, configured: string | undefined): number {
  const ceiling = MAX_OUTPUT_TOKENS.get(model.replace(/-(?:\d{8}|latest)$/, ""));
  const requested = /^0*[1-9]\d*$/.test(configured ?? "") ? Number(configured) : null;
  return Math.min(requested ?? ceiling ?? DEFAULT_MAX_TOKENS, ceiling ?? Infinity);
}

/** Returns `temperature`, `top_p` and `top_k`. The provider's defaults apply to the first two. */
export function sampling({ body, provider: { settings } }: SectionInput): Result<JsonObject> {
  const isGone = settings.api_version === "2026-10-21";
  const sent: JsonObject = {};
  for (const key of ["temperature", "top_p", "top_k"] as const) {
    const value = body[key] ?? null;
    if (value === null) continue;
    const number = numberOf(value);
    if (number === null) return wrongType(key, "a number");
    if (isGone) return unsupported(key, "This version of the API has no sampling fields.");
    if (key === "top_k" && !Number.isInteger(number)) return wrongType(key, "an integer");
    const most = { temperature: 2, top_p: 1, top_k: Infinity }[key];
    if (number < 0 || number > most) {
      return wrongValue(key, most === Infinity ? "at least 0" : `between 0 and ${most}`);
    }
    // Clamping would change the meaning of the request without an error.
    if (key === "temperature" && number > 1) {
      return unsupported(key, "The provider's range is 0 to 1.");
    }
    sent[key] = value;
  }
  if (!isGone) {
    sent.temperature ??= settings.temperature;
    sent.top_p ??= settings.top_p;
  }
  return success(sent);
}

/**
 * Returns `stop_sequences`. The API refuses a sequence of white space, for which the gateway searches in the
 * response.
 */
export function stops({ body, provider: { settings } }: SectionInput): Result<JsonObject> {
  const parsed = parseStops(body.stop, { isSent: isStopSequence, verify: settings.verify });
  if (!parsed.ok) return parsed;
  const { sent } = parsed.value;
  return success(sent.length === 0 ? {} : { stop_sequences: [...sent] });
}

/** True for a text that the API accepts as a stop sequence. */
export function isStopSequence(text: string): boolean {
  return text.trim() !== "";
}

/** Returns `metadata.user_id`, from either of its two Chat fields. */
export function caller({ body }: SectionInput): Result<JsonObject> {
  const user = body.user ?? null;
  const safety = body.safety_identifier ?? null;
  for (const [key, value] of Object.entries({ user, safety_identifier: safety })) {
    if (value === null) continue;
    if (typeof value !== "string") return wrongType(key, "a string");
    if ([...value].length > MAX_USER_CHARS) {
      return unsupported(key, `It may have at most ${MAX_USER_CHARS} characters.`);
    }
  }
  if (user !== null && safety !== null && user !== safety) {
    return unsupported("safety_identifier", "It must equal 'user' when both are sent.");
  }
  const id = user ?? safety;
  return success(id === null ? {} : { metadata: { user_id: id } });
}

/** Returns `service_tier`, which has two values: the standard tier and the upstream's default. */
export function tier({ body }: SectionInput): Result<JsonObject> {
  const requested = body.service_tier ?? "auto";
  if (requested === "auto") return success({});
  return requested === "default"
    ? success({ service_tier: "standard_only" })
    : unsupported("service_tier");
}
