import type { Refusal } from "../../../core/failure/failure.ts";
import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { type Failed, type Result, success } from "../../../core/failure/result.ts";
import { type Carrier, usedBy } from "../../../prompt/carry.ts";
import type { ChatField } from "../../../prompt/chat_fields.ts";
import { isRefused } from "../../../prompt/field_table.ts";
import type { FieldRef, Format, Prompt } from "../../../prompt/prompt.ts";
import {
  allIn,
  flagOf,
  numberIn,
  requiredObject,
  requiredText,
  textOf,
} from "../../../prompt/read.ts";
import {
  isEmpty,
  type Optional,
  unknownMember,
  unsupported,
  wrongValue,
} from "../../../prompt/refusals.ts";
import { RESPONSES_FIELDS } from "./fields.ts";
import type { WireName } from "../../../wires/wire.ts";

/** Request fields with the same name and meaning in Chat. */
const SHARED = [
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "service_tier",
] as const;

/**
 * Fields about the user and the cache, sent only to upstreams that know them. The response repeats
 * them.
 */
export const HINTS: Readonly<Record<WireName, readonly string[]>> = {
  compat: [
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "prompt_cache_options",
  ],
  // This wire gets the client's own document.
  responses: [],
  messages: ["user"],
  local: [],
};

/** Fields about the user. The remaining hints help only an upstream's cache. */
export const IDENTITIES: readonly string[] = ["user", "safety_identifier"];

/** The fields that a prompt has besides the dialogue and the tools. */
type Options = Pick<Prompt, "effort" | "sampling" | "limits" | "verbosity" | "labels" | "format">;

/**
 * Returns all fields except input and tools. A Refusal names the first that is wrong or not
 * carried.
 */
export function parseOptions(
  body: JsonObject,
  wire: WireName,
  carrier: Carrier,
): Result<Options> {
  const problem = refusedField(body) ?? includeProblem(body) ??
    reasoningProblem(body.reasoning) ?? textProblem(body.text);
  if (problem !== null) return problem;
  loseDropped(body, wire, carrier);
  const shown = [...SHARED, ...HINTS[wire]].map((key) => [key, body[key] ?? null] as const);
  const carried: JsonObject = Object.fromEntries(shown);
  const refused = carrier.useTopLevel(carried);
  if (refused !== null) return refused;
  const own = (key: "user" | "safety_identifier" | "service_tier") =>
    textOf(carried[key], { field: key, path: key });
  const number = (key: "temperature" | "top_p" | "presence_penalty" | "frequency_penalty") =>
    numberIn(carried[key] ?? null, { field: key, path: key });
  const text = isObject(body.text) ? body.text : {};
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  const used = (given: Optional, field: ChatField, path: string) =>
    usedBy(carrier, textOf(given, { field, path }));
  const limitAt = { field: "max_completion_tokens", path: "max_output_tokens" } as const;
  return allIn<Options>({
    format: parseFormat(text.format, carrier),
    sampling: allIn({
      temperature: number("temperature"),
      topP: number("top_p"),
      topK: success(null),
      presencePenalty: number("presence_penalty"),
      frequencyPenalty: number("frequency_penalty"),
      seed: success(null),
    }),
    limits: allIn({
      completion: usedBy(carrier, numberIn(body.max_output_tokens ?? null, limitAt, true)),
      legacy: success(null),
    }),
    effort: used(reasoning.effort, "reasoning_effort", "reasoning.effort"),
    verbosity: used(text.verbosity, "verbosity", "text.verbosity"),
    labels: allIn({
      user: own("user"),
      safetyIdentifier: own("safety_identifier"),
      serviceTier: own("service_tier"),
      metadata: success(null),
      cacheControl: success(null),
      cacheKey: success(carried.prompt_cache_key ?? null),
      cacheRetention: success(carried.prompt_cache_retention ?? null),
      cacheOptions: success(carried.prompt_cache_options ?? null),
      moderation: success(null),
    }),
  });
}

function refusedField(body: JsonObject): Failed<Refusal> | null {
  for (const [key, treatment] of RESPONSES_FIELDS.topLevel) {
    const value = body[key] ?? null;
    if (key !== "truncation" && value !== null && isRefused(treatment, value)) {
      return unsupported(key);
    }
  }
  if (body.service_tier === "ultrafast") return unsupported("service_tier");
  const truncation = body.truncation ?? "disabled";
  if (truncation === "auto") return unsupported("truncation");
  return truncation === "disabled" ? null : wrongValue("truncation", "'auto' or 'disabled'");
}

/** Records the fields of a request that have a value and do not reach the upstream. */
function loseDropped(body: JsonObject, wire: WireName, carrier: Carrier): void {
  for (const key in body) {
    const value = body[key];
    const isKnown = RESPONSES_FIELDS.topLevel.has(key) || key === "include[]";
    const isDropped = IDENTITIES.includes(key) ? !HINTS[wire].includes(key) : !isKnown;
    if (isDropped && !isEmpty(value)) carrier.lose(key);
  }
  const { stream_options: options, reasoning } = body;
  // The upstream ignores the thinking of earlier turns (Messages API, extended thinking).
  if (wire === "messages" && isObject(reasoning) && reasoning.context === "all_turns") {
    carrier.lose("reasoning.context");
  }
  if (isObject(options) && options.include_obfuscation === true) {
    carrier.lose("stream_options.include_obfuscation");
  }
}

/**
 * Returns the refusal of an unsupported `include` value; null if all are supported. Signed thinking
 * is always in its item, so requesting encrypted content has no effect.
 */
function includeProblem(body: JsonObject): Failed<Refusal> | null {
  for (const key of ["include", "include[]"]) {
    const list = body[key];
    const at = Array.isArray(list)
      ? list.findIndex((value) => value !== "reasoning.encrypted_content")
      : -1;
    if (at >= 0) return unsupported(`${key}[${at}]`);
  }
  return null;
}

/** Values of `reasoning.context` whose treatment depends on the wire. */
const CONTEXTS: readonly Optional[] = ["current_turn", "all_turns"];

function reasoningProblem(reasoning: Optional): Failed<Refusal> | null {
  if (!isObject(reasoning)) return null;
  for (const key of ["summary", "generate_summary", "mode", "context"] as const) {
    const value = reasoning[key] ?? null;
    const treatment = RESPONSES_FIELDS.rows[`reasoning.${key}`];
    const isContext = key === "context" && CONTEXTS.includes(value);
    if (value !== null && !isContext && treatment !== undefined && isRefused(treatment, value)) {
      return unsupported(`reasoning.${key}`);
    }
  }
  return unknownMember(reasoning, RESPONSES_FIELDS.members("reasoning"), "reasoning");
}

const FORMAT = RESPONSES_FIELDS.members("text.format[json_schema]");

function textProblem(text: Optional): Failed<Refusal> | null {
  if (!isObject(text)) return null;
  const { format } = text;
  return unknownMember(text, RESPONSES_FIELDS.members("text"), "text") ??
    (isObject(format) ? unknownMember(format, FORMAT, "text.format") : null);
}

function parseFormat(format: Optional, carrier: Carrier): Result<Format | null> {
  if (!isObject(format) || format.type === "text") return success(null);
  const { type } = format;
  if (type !== "json_object" && type !== "json_schema") return unsupported("text.format.type");
  const at: FieldRef = {
    field: `response_format[${type}]`,
    path: "text.format",
    ...type === "json_object" && { refusedPath: "text.format.type" },
  };
  if (type === "json_object") return carrier.use(at) ?? success({ kind: type, at });
  const rows = "response_format[json_schema].json_schema";
  const member = <Name extends "name" | "description" | "schema" | "strict">(name: Name) =>
    ({ field: `${rows}.${name}`, path: `text.format.${name}` }) as const;
  const schemaAt = member("schema");
  const schema = requiredObject(format.schema, schemaAt.path);
  const read = allIn({
    name: requiredText(format.name, member("name")),
    schema: schema.ok ? success({ value: schema.value, at: schemaAt }) : schema,
    description: textOf(format.description, member("description")),
    strict: flagOf(format.strict, member("strict")),
  });
  if (!read.ok) return read;
  for (const given of [{ at }, read.value.name, read.value.description, read.value.strict]) {
    const refused = given === null ? null : carrier.use(given.at);
    if (refused !== null) return refused;
  }
  return success({ kind: type, at, ...read.value });
}
