import type { ProviderConfig } from "../../config/schema.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { numberOf } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { contradiction, unsupported, wrongType, wrongValue } from "../chat_request/refusals.ts";
import { CEILINGS } from "../../data/known_models.ts";

/** What a part of the encoding reads: the client's request, the provider and the model. */
export interface Asked {
  /** Numbers keep their text. */
  readonly body: JsonObject;
  readonly settings: ProviderConfig;
  /** The bare model of the target. */
  readonly model: string;
}

/** Longest `metadata.user_id`, in characters (Messages API, create). */
const LONGEST_USER = 256;

/** Every current model can write this many tokens. */
const USUAL_LIMIT = 32_000;

/** `max_tokens`, which the Messages API demands; a client's value is never raised or lowered. */
export function limits({ body, settings, model }: Asked): Result<JsonObject> {
  const given = ["max_completion_tokens", "max_tokens"].flatMap((key) => {
    const value = body[key] ?? null;
    return value === null ? [] : [{ key, number: numberOf(value) }];
  });
  for (const { key, number } of given) {
    if (number === null || !Number.isInteger(number)) return wrongType(key, "an integer");
    // 0 would warm the upstream's cache and answer nothing.
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
 * Tokens to ask for when the client names no limit: what the provider is configured with, else all
 * that the model can write. Never above a ceiling that is known.
 */
function defaultMaxTokens(model: string, configured: string | undefined): number {
  const ceiling = CEILINGS.get(model.replace(/-(?:\d{8}|latest)$/, ""));
  const wanted = /^0*[1-9]\d*$/.test(configured ?? "") ? Number(configured) : null;
  return Math.min(wanted ?? ceiling ?? USUAL_LIMIT, ceiling ?? Infinity);
}

/** `temperature`, `top_p` and `top_k`; the provider's defaults fill the first two. */
export function sampling({ body, settings }: Asked): Result<JsonObject> {
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
    // Clamping would answer another question than the one asked.
    if (key === "temperature" && number > 1) return unsupported(key, "Its range there is 0 to 1.");
    sent[key] = value;
  }
  if (!isGone) {
    sent.temperature ??= settings.temperature;
    sent.top_p ??= settings.top_p;
  }
  return success(sent);
}

/** `stop_sequences`. The API refuses one that shows nothing, so it cannot be honoured. */
export function stops({ body }: Asked): Result<JsonObject> {
  const given = body.stop ?? [];
  const isList = Array.isArray(given);
  const list = isList ? given : [given];
  for (const [index, text] of list.entries()) {
    const path = isList ? `stop[${index}]` : "stop";
    if (typeof text !== "string") return wrongType(path, "a string");
    if (text.trim() === "") return unsupported(path, "A stop text needs a visible character.");
  }
  return success(list.length === 0 ? {} : { stop_sequences: list });
}

/** `metadata.user_id`, from either of the names that Chat has for it. */
export function caller({ body }: Asked): Result<JsonObject> {
  const user = body.user ?? null;
  const safety = body.safety_identifier ?? null;
  for (const [key, value] of Object.entries({ user, safety_identifier: safety })) {
    if (value === null) continue;
    if (typeof value !== "string") return wrongType(key, "a string");
    if ([...value].length > LONGEST_USER) {
      return unsupported(key, `It may have at most ${LONGEST_USER} characters.`);
    }
  }
  if (user !== null && safety !== null && user !== safety) {
    return unsupported("safety_identifier", "It must equal 'user' when both are sent.");
  }
  const id = user ?? safety;
  return success(id === null ? {} : { metadata: { user_id: id } });
}

/** `service_tier`: only the choice between the standard tier and the upstream's own. */
export function tier({ body }: Asked): Result<JsonObject> {
  const wanted = body.service_tier ?? "auto";
  if (wanted === "auto") return success({});
  return wanted === "default"
    ? success({ service_tier: "standard_only" })
    : unsupported("service_tier");
}
