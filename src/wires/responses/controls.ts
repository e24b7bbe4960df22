import type { ProviderConfig } from "../../config/schema.ts";
import { isObject, type JsonObject, numberOf } from "../../core/json.ts";
import { type Result, success } from "../../core/result.ts";
import {
  contradiction,
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
} from "../fields.ts";
import { SAME } from "./fields.ts";

/** What a part of the encoding reads: the client's request and the provider. */
export interface Asked {
  /** Numbers keep their text. */
  readonly body: JsonObject;
  readonly settings: ProviderConfig;
}

/** The least `max_output_tokens` (Responses API, create). */
const LEAST_TOKENS = 16;

/** `max_output_tokens`, from either of the names that Chat has for it. */
export function limit({ body }: Asked): Result<JsonObject> {
  const given = ["max_completion_tokens", "max_tokens"].flatMap((key) => {
    const value = body[key] ?? null;
    return value === null ? [] : [{ key, value, number: numberOf(value) }];
  });
  for (const { key, number } of given) {
    if (number === null || !Number.isInteger(number)) return wrongType(key, "an integer");
    if (number < LEAST_TOKENS) return unsupported(key, `There it is at least ${LEAST_TOKENS}.`);
  }
  const [first, second] = given;
  if (second !== undefined && first?.number !== second.number) {
    return contradiction(
      "max_tokens",
      "'max_tokens' and 'max_completion_tokens' must be equal when both are sent.",
    );
  }
  return success(first === undefined ? {} : { max_output_tokens: first.value });
}

/** `temperature` and `top_p`, filled with the provider's defaults. */
export function sampling({ body, settings }: Asked): Result<JsonObject> {
  const temperature = body.temperature ?? settings.temperature;
  const top_p = body.top_p ?? settings.top_p;
  return success({
    ...temperature !== undefined && { temperature },
    ...top_p !== undefined && { top_p },
  });
}

/** `reasoning.effort`, from either of the names that clients have for it. */
export function reasoning({ body }: Asked): Result<JsonObject> {
  const nested = body.reasoning ?? {};
  if (!isObject(nested)) return wrongType("reasoning", "an object");
  const unknown = unknownMember(nested, ["effort"], "reasoning");
  if (unknown !== null) return unknown;
  const plain = body.reasoning_effort ?? null;
  const inner = nested.effort ?? null;
  if (plain !== null && inner !== null && plain !== inner) {
    return contradiction(
      "reasoning.effort",
      "'reasoning_effort' and 'reasoning.effort' must be equal when both are sent.",
    );
  }
  const effort = plain ?? inner;
  if (effort === null) return success({});
  if (typeof effort === "string") return success({ reasoning: { effort } });
  return wrongType(plain === null ? "reasoning.effort" : "reasoning_effort", "a string");
}

/** `text`: the format of the answer and how wordy it is. */
export function text({ body }: Asked): Result<JsonObject> {
  const made = formatOf(body.response_format);
  if (!made.ok) return made;
  const format = made.value;
  const verbosity = body.verbosity ?? null;
  if (format === null && verbosity === null) return success({});
  return success({
    text: { ...format !== null && { format }, ...verbosity !== null && { verbosity } },
  });
}

const FORMAT_MEMBERS = ["name", "description", "schema", "strict"] as const;

function formatOf(given: Optional): Result<JsonObject | null> {
  const path = "response_format";
  if ((given ?? null) === null) return success(null);
  if (!isObject(given)) return wrongType(path, "an object");
  const { type } = given;
  const isPlain = type === "text" || type === "json_object";
  if (!isPlain && type !== "json_schema") return unsupported(`${path}.type`);
  const unknown = unknownMember(given, isPlain ? ["type"] : ["type", "json_schema"], path);
  if (unknown !== null) return unknown;
  return isPlain ? success({ type }) : schemaFormat(given.json_schema, `${path}.json_schema`);
}

/** What Chat nests stands flat in Responses. */
function schemaFormat(given: Optional, path: string): Result<JsonObject> {
  if ((given ?? null) === null) return missing(path);
  if (!isObject(given)) return wrongType(path, "an object");
  const unknown = unknownMember(given, FORMAT_MEMBERS, path);
  if (unknown !== null) return unknown;
  if (typeof given.name !== "string") return missing(`${path}.name`);
  if ((given.schema ?? null) === null) return missing(`${path}.schema`);
  if (!isObject(given.schema)) return wrongType(`${path}.schema`, "an object");
  const members = FORMAT_MEMBERS.filter((key) => (given[key] ?? null) !== null);
  return success({
    type: "json_schema",
    ...Object.fromEntries(members.map((key) => [key, given[key]])),
  });
}

/** What both APIs call and mean the same. */
export function sameFields({ body }: Asked): Result<JsonObject> {
  const sent = SAME.filter((key) => (body[key] ?? null) !== null);
  return success(Object.fromEntries(sent.map((key) => [key, body[key]])));
}

/** `stream`; the usage need not be asked for, because every terminal tells it. */
export function streaming({ body }: Asked): Result<JsonObject> {
  if (body.stream !== true) return success({});
  const options = isObject(body.stream_options) ? body.stream_options : {};
  const isBare = options.include_obfuscation === false;
  return success({ stream: true, ...isBare && { stream_options: { include_obfuscation: false } } });
}
