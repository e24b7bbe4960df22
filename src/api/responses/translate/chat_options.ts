import type { Refusal } from "../../../core/failure.ts";
import { isObject, type JsonObject, numberOf } from "../../../core/json/json.ts";
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
import type { WireName } from "../../../wires/wire.ts";

/**
 * Fields that are refused unless empty, because a chat upstream cannot serve them. Chat fields that
 * are unknown to Responses are included, because the translation would lose them.
 */
const REFUSED = [
  "prompt",
  "max_tool_calls",
  "context_management",
  "moderation",
  "access_programs",
  "image",
  "messages",
  "functions",
  "function_call",
  "response_format",
  "max_tokens",
  "max_completion_tokens",
  "reasoning_effort",
  "verbosity",
  "stop",
  "seed",
  "n",
  "logit_bias",
  "logprobs",
  "prediction",
  "modalities",
  "audio",
  "web_search_options",
  "top_k",
  "thinking",
] as const;

/** Request fields with the same name and meaning in Chat. */
const SHARED = [
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "service_tier",
] as const;

/** Fields about the user and the cache, sent only to upstreams that know them. The response repeats them. */
const HINTS: Readonly<Record<WireName, readonly string[]>> = {
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

/** Translates all fields except input and tools into Chat. Refuses a field without a counterpart. */
export function chatOptions(body: JsonObject, wire: WireName): Result<JsonObject> {
  const problem = refusedField(body) ?? includeProblem(body) ??
    reasoningProblem(body.reasoning) ?? textProblem(body.text);
  if (problem !== null) return problem;
  const format = translateFormat(isObject(body.text) ? body.text.format : null);
  if (!format.ok) return format;
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
  const refused = REFUSED.find((key) => !isEmpty(body[key]));
  if (refused !== undefined) return unsupported(refused);
  if (body.background === true) return unsupported("background");
  if ((numberOf(body.top_logprobs) ?? 0) !== 0) return unsupported("top_logprobs");
  if (body.service_tier === "ultrafast") return unsupported("service_tier");
  const truncation = body.truncation ?? "disabled";
  if (truncation === "auto") return unsupported("truncation");
  return truncation === "disabled" ? null : wrongValue("truncation", "'auto' or 'disabled'");
}

/**
 * Returns the refusal of an unsupported `include` value; null if all are supported. Signed thinking is
 * always in its item, so requesting encrypted content has no effect.
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

/** Field values that equal the default behaviour, and so are accepted. */
const DEFAULT_VALUES: Readonly<Record<string, string>> = {
  summary: "auto",
  generate_summary: "auto",
  mode: "standard",
  context: "auto",
};

function reasoningProblem(reasoning: Optional): Failed<Refusal> | null {
  if (!isObject(reasoning)) return null;
  const usual = Object.entries(DEFAULT_VALUES);
  const other = usual.find(([key, value]) => (reasoning[key] ?? value) !== value);
  return other === undefined
    ? unknownMember(reasoning, ["effort", ...Object.keys(DEFAULT_VALUES)], "reasoning")
    : unsupported(`reasoning.${other[0]}`);
}

function textProblem(text: Optional): Failed<Refusal> | null {
  if (!isObject(text)) return null;
  const { format } = text;
  return unknownMember(text, ["format", "verbosity"], "text") ??
    (isObject(format)
      ? unknownMember(format, ["type", "name", "schema", "description", "strict"], "text.format")
      : null);
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
