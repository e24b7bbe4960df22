import type { Refusal } from "../../core/failure.ts";
import {
  isObject,
  isTooDeep,
  type JsonObject,
  type JsonValue,
  MAX_LEVELS,
  parseExact,
} from "../../core/json/json.ts";
import { type Failed, refuse, type Result, success } from "../../core/result.ts";

/** What an optional member may be: absent and null ask for nothing. */
export type Optional = JsonValue | undefined;

/** True for a value that asks for nothing: absent, null, and lists and objects without content. */
export function isEmpty(value: Optional): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

/** The refusal for the first member that is neither known nor null; null when there is none. */
export function unknownMember(
  value: JsonObject,
  known: readonly string[],
  path: string,
): Failed<Refusal> | null {
  const unknown = Object.keys(value).find((key) =>
    !known.includes(key) && (value[key] ?? null) !== null
  );
  return unknown === undefined ? null : unsupported(`${path}.${unknown}`);
}

/** The refusal of a field that the provider's protocol has no counterpart for. */
export function unsupported(path: string, advice = ""): Failed<Refusal> {
  const text = `The provider cannot honour '${path}'.${advice === "" ? "" : ` ${advice}`}`;
  return refuse("unsupported_feature", text, path);
}

/** The refusal of a field that the provider takes only when its capability is declared. */
export function undeclared(path: string, flag: string): Failed<Refusal> {
  return unsupported(path, `It is for providers that declare capabilities.${flag}.`);
}

/** The refusal of a field of the wrong JSON type. */
export function wrongType(path: string, expected: string): Failed<Refusal> {
  return refuse("invalid_type", `'${path}' must be ${expected}.`, path);
}

/** The refusal of a value that no provider could take. */
export function wrongValue(path: string, expected: string): Failed<Refusal> {
  return refuse("invalid_value", `'${path}' must be ${expected}.`, path);
}

/** The refusal of two fields that contradict each other. */
export function contradiction(path: string, message: string): Failed<Refusal> {
  return refuse("invalid_parameter_combination", message, path);
}

/** The refusal of a request without a field that must be there. */
export function missing(path: string): Failed<Refusal> {
  return refuse("missing_required_parameter", `'${path}' is required.`, path);
}

/** The arguments of a call in the history, whose numbers keep their text; no text is no arguments. */
export function argumentsOf(given: Optional, path: string): Result<JsonObject> {
  const text = given ?? "";
  if (typeof text !== "string") return wrongType(path, "a string");
  const value = text.trim() === "" ? {} : parseExact(text);
  // What a model wrote may be anything.
  if (!isObject(value)) return wrongValue(path, "the text of a JSON object");
  return isTooDeep(value)
    ? unsupported(path, `It is nested more than ${MAX_LEVELS} levels deep.`)
    : success(value);
}

/** The refusal of a body that is nested too deeply to be translated; null when it is not. */
export function nesting(body: JsonObject): Failed<Refusal> | null {
  const deep = Object.keys(body).find((key) => isTooDeep(body[key]));
  if (deep === undefined) return null;
  const text =
    `'${deep}' is nested more than ${MAX_LEVELS} levels deep, which only upstreams that speak ` +
    "Chat Completions themselves can take.";
  return refuse("unsupported_feature", text, deep);
}
