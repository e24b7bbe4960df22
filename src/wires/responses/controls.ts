import { isObject, type JsonObject, numberOf } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { parseEffort } from "../chat_request/effort.ts";
import type { PastReasoning } from "../chat_request/past_reasoning.ts";
import {
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
} from "../chat_request/refusals.ts";
import { JSON_SCHEMA_MEMBERS, parseSchema } from "../chat_request/json_schema.ts";
import type { Losses } from "../chat_request/losses.ts";
import type { Provider } from "../wire.ts";
import { FIELDS, SAME } from "./fields.ts";

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

/** Minimum `max_output_tokens` (Responses API, create). */
const MIN_OUTPUT_TOKENS = 16;

/**
 * Returns `max_output_tokens`, from either of its two Chat fields; `max_completion_tokens` has
 * precedence.
 */
export function limit({ body, losses }: SectionInput): Result<JsonObject> {
  const isNewer = (body.max_completion_tokens ?? null) !== null;
  const key = isNewer ? "max_completion_tokens" : "max_tokens";
  const value = body[key] ?? null;
  if (value === null) return success({});
  const tokens = numberOf(value);
  if (tokens === null || !Number.isInteger(tokens)) return wrongType(key, "an integer");
  const other = isNewer ? numberOf(body.max_tokens) : null;
  if (other !== null && other !== tokens) losses.add("max_tokens");
  return tokens < MIN_OUTPUT_TOKENS
    ? unsupported(key, `The provider's minimum is ${MIN_OUTPUT_TOKENS}; send a higher limit.`)
    : success({ max_output_tokens: value });
}

/** Returns `temperature` and `top_p`, with the provider's defaults. */
export function sampling({ body, provider: { settings } }: SectionInput): Result<JsonObject> {
  const temperature = body.temperature ?? settings.temperature;
  const top_p = body.top_p ?? settings.top_p;
  return success({
    ...temperature !== undefined && { temperature },
    ...top_p !== undefined && { top_p },
  });
}

/** Returns `reasoning.effort`, from either of its two request fields. */
export function reasoning({ body }: SectionInput): Result<JsonObject> {
  const requested = parseEffort(body);
  if (!requested.ok) return requested;
  const { path, effort } = requested.value;
  if (effort === null) return success({});
  return typeof effort === "string"
    ? success({ reasoning: { effort } })
    : wrongType(path, "a string");
}

/** Returns `text`: the format and verbosity of the response. */
export function text({ body }: SectionInput): Result<JsonObject> {
  const made = encodeFormat(body.response_format);
  if (!made.ok) return made;
  const format = made.value;
  const verbosity = body.verbosity ?? null;
  if (format === null && verbosity === null) return success({});
  return success({
    text: { ...format !== null && { format }, ...verbosity !== null && { verbosity } },
  });
}

function encodeFormat(given: Optional): Result<JsonObject | null> {
  const path = "response_format";
  if ((given ?? null) === null) return success(null);
  if (!isObject(given)) return wrongType(path, "an object");
  const { type } = given;
  const isPlain = type === "text" || type === "json_object";
  if (!isPlain && type !== "json_schema") return unsupported(`${path}.type`);
  const unknown = unknownMember(given, FIELDS.members(`response_format[${type}]`), path);
  if (unknown !== null) return unknown;
  return isPlain ? success({ type }) : schemaFormat(given.json_schema, `${path}.json_schema`);
}

/** Returns a schema format without the nested object of Chat. */
function schemaFormat(given: Optional, path: string): Result<JsonObject> {
  const schema = parseSchema(given, path);
  if (!schema.ok) return schema;
  const named = isObject(given) ? given : {};
  if (typeof named.name !== "string") return missing(`${path}.name`);
  const members = JSON_SCHEMA_MEMBERS.filter((key) => (named[key] ?? null) !== null);
  return success({
    type: "json_schema",
    ...Object.fromEntries(members.map((key) => [key, named[key]])),
  });
}

/** Returns the fields with the same name and meaning in both APIs. */
export function sameFields({ body }: SectionInput): Result<JsonObject> {
  const sent = SAME.filter((key) => (body[key] ?? null) !== null);
  return success(Object.fromEntries(sent.map((key) => [key, body[key]])));
}

/** Returns `stream`. Usage need not be requested: every terminal event contains it. */
export function streaming({ body }: SectionInput): Result<JsonObject> {
  if (body.stream !== true) return success({});
  const options = isObject(body.stream_options) ? body.stream_options : {};
  const isBare = options.include_obfuscation === false;
  return success({ stream: true, ...isBare && { stream_options: { include_obfuscation: false } } });
}
