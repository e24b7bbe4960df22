import type { Refusal } from "../../../core/failure.ts";
import { isObject, type JsonObject } from "../../../core/json/json.ts";
import { type Failed, type Result, success } from "../../../core/result.ts";
import {
  isEmpty,
  missing,
  type Optional,
  unknownMember,
  unsupported,
  wrongType,
  wrongValue,
} from "../../../wires/chat_request/refusals.ts";
import { isRefused } from "../../../prompt/field_table.ts";
import type { Losses } from "../../../wires/chat_request/losses.ts";
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

/**
 * Translates all fields except input and tools into Chat. Refuses a field without a counterpart.
 */
export function chatOptions(
  body: JsonObject,
  wire: WireName,
  losses: Losses,
): Result<JsonObject> {
  const problem = refusedField(body) ?? includeProblem(body) ??
    reasoningProblem(body.reasoning) ?? textProblem(body.text);
  if (problem !== null) return problem;
  const format = translateFormat(isObject(body.text) ? body.text.format : null);
  if (!format.ok) return format;
  addDropped(body, wire, losses);
  const same = [...SHARED, ...HINTS[wire]].map((key) => [key, body[key]] as const);
  const options = [
    ...same,
    ["max_completion_tokens", body.max_output_tokens],
    ["reasoning_effort", isObject(body.reasoning) ? body.reasoning.effort : null],
    ["verbosity", isObject(body.text) ? body.text.verbosity : null],
    ["response_format", format.value],
  ] as const;
  return success(Object.fromEntries(options.filter(([, value]) => (value ?? null) !== null)));
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
function addDropped(body: JsonObject, wire: WireName, losses: Losses): void {
  for (const key in body) {
    const value = body[key];
    const isKnown = RESPONSES_FIELDS.topLevel.has(key) || key === "include[]";
    const isDropped = IDENTITIES.includes(key) ? !HINTS[wire].includes(key) : !isKnown;
    if (isDropped && !isEmpty(value)) losses.add(key);
  }
  const { stream_options: options, reasoning } = body;
  // The upstream ignores the thinking of earlier turns (Messages API, extended thinking).
  if (wire === "messages" && isObject(reasoning) && reasoning.context === "all_turns") {
    losses.add("reasoning.context");
  }
  if (isObject(options) && options.include_obfuscation === true) {
    losses.add("stream_options.include_obfuscation");
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

function translateFormat(format: Optional): Result<JsonObject | null> {
  if (!isObject(format) || format.type === "text") return success(null);
  if (format.type === "json_object") return success({ type: "json_object" });
  if (format.type !== "json_schema") return unsupported("text.format.type");
  const { name, schema, description, strict } = format;
  if ((name ?? null) === null) return missing("text.format.name");
  if (typeof name !== "string") return wrongType("text.format.name", "a string");
  if ((schema ?? null) === null) return missing("text.format.schema");
  if (!isObject(schema)) return wrongType("text.format.schema", "an object");
  return success({
    type: "json_schema",
    json_schema: {
      name,
      ...(description ?? null) !== null && { description },
      schema,
      ...(strict ?? null) !== null && { strict },
    },
  });
}
