import type { ProviderConfig } from "../../config/schema.ts";
import {
  type JsonDocument,
  type JsonObject,
  type JsonValue,
  numberOf,
} from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import {
  brokenRule,
  contradiction,
  unsupported,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";
import { exactMember } from "./fields.ts";

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
 * Returns the `options` of a chat request: the request's values, else the provider's defaults, else
 * the runtime settings. Numbers are exact text. The runtime ignores misnamed options without an
 * error and gives 0 and -1 another meaning than Chat, so both are validated here.
 */
export function encodeOptions(
  document: JsonDocument,
  settings: ProviderConfig,
): Result<JsonObject> {
  const options: JsonObject = { ...runSettings(settings).options };
  for (const key of ["temperature", "top_p", "top_k"] as const) {
    const value = settings[key];
    if (value !== undefined) options[key] = value;
  }
  for (const read of [numberOptions, limitOption, stopOption]) {
    const given = read(document);
    if (!given.ok) return given;
    Object.assign(options, given.value);
  }
  return success(options);
}

const NUMBERS = [
  { key: "temperature", whole: false, least: -Infinity, most: Infinity },
  { key: "top_p", whole: false, least: -Infinity, most: Infinity },
  { key: "top_k", whole: true, least: -Infinity, most: Infinity },
  { key: "presence_penalty", whole: false, least: -2, most: 2 },
  { key: "frequency_penalty", whole: false, least: -2, most: 2 },
  { key: "seed", whole: true, least: -Infinity, most: Infinity },
];

function numberOptions(document: JsonDocument): Result<JsonObject> {
  const options: JsonObject = {};
  for (const { key, whole, least, most } of NUMBERS) {
    const value = exactMember(document, key);
    if (value === undefined) continue;
    const number = numberOf(value);
    if (number === null) return wrongType(key, "a number");
    if (whole && !Number.isInteger(number)) return wrongType(key, "an integer");
    if (number < least || number > most) {
      return wrongValue(key, `from ${least} to ${most}`);
    }
    // The runtime treats a negative seed as "any".
    if (key === "seed" && number < 0) return unsupported(key);
    options[key] = value;
  }
  return success(options);
}

function limitOption(document: JsonDocument): Result<JsonObject> {
  const limits = ["max_completion_tokens", "max_tokens"].flatMap((key) => {
    const value = exactMember(document, key);
    return value === undefined ? [] : [{ key, value, number: numberOf(value) }];
  });
  for (const { key, number } of limits) {
    if (number === null || !Number.isInteger(number)) return wrongType(key, "an integer");
    if (number < 1) return wrongValue(key, "at least 1");
  }
  const [first, second] = limits;
  if (first === undefined) return success({});
  if (second !== undefined && first.number !== second.number) {
    return contradiction(
      "max_tokens",
      "'max_tokens' and 'max_completion_tokens' must be equal when both are sent.",
    );
  }
  return success({ num_predict: first.value });
}

function stopOption(document: JsonDocument): Result<JsonObject> {
  const given = document.value.stop ?? [];
  const isList = Array.isArray(given);
  const stop = isList ? given : [given];
  for (const [index, text] of stop.entries()) {
    const path = isList ? `stop[${index}]` : "stop";
    if (typeof text !== "string") return wrongType(path, "a string");
    if (text === "") return brokenRule(path, "must not be empty");
  }
  return success(stop.length === 0 ? {} : { stop });
}
