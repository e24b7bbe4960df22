import type { ProviderConfig } from "../../config/schema.ts";
import { isObject, type JsonDocument, type JsonObject, type JsonValue } from "../../core/json.ts";
import { refuse, type Result, success } from "../../core/result.ts";
import {
  missing,
  type Optional,
  undeclared,
  unknownMember,
  unsupported,
  wrongType,
} from "../fields.ts";
import { exactMember } from "./fields.ts";

/** Fields that the parts of the encoding read. */
export const ENCODED: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "stream",
  "stream_options",
  "max_completion_tokens",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "stop",
  "seed",
  "presence_penalty",
  "frequency_penalty",
  "response_format",
  "reasoning_effort",
  "reasoning",
  "thinking",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
]);

/**
 * The runtime's `format`: "json", or the bare schema, never its envelope. Undefined asks for
 * nothing. A schema needs the provider's structured_outputs capability.
 */
export function formatOf(
  document: JsonDocument,
  settings: ProviderConfig,
): Result<JsonValue | undefined> {
  const format = exactMember(document, "response_format");
  if (format === undefined) return success(undefined);
  if (!isObject(format)) return wrongType("response_format", "an object");
  switch (format.type) {
    case "text":
      return success(undefined);
    case "json_object":
      return success("json");
    case "json_schema":
      return settings.capabilities.structured_outputs
        ? schemaOf(format.json_schema, "response_format.json_schema")
        : undeclared("response_format", "structured_outputs");
    default:
      return unsupported("response_format.type");
  }
}

function schemaOf(value: Optional, path: string): Result<JsonObject> {
  if ((value ?? null) === null) return missing(path);
  if (!isObject(value)) return wrongType(path, "an object");
  const unknown = unknownMember(value, ["name", "description", "schema", "strict"], path);
  if (unknown !== null) return unknown;
  const schema = value.schema ?? null;
  if (schema === null) return missing(`${path}.schema`);
  return isObject(schema) ? success(schema) : wrongType(`${path}.schema`, "an object");
}

/** The runtime's `think`; undefined leaves it to the model. */
export function thinkOf(
  value: JsonObject,
  settings: ProviderConfig,
): Result<boolean | string | undefined> {
  const disabled = isDisabled(value.thinking ?? null);
  if (!disabled.ok) return disabled;
  const effort = effortOf(value);
  if (!effort.ok) return effort;
  const { path, level } = effort.value;
  if (level === null) return success(disabled.value ? false : undefined);
  const think = levelOf(level, path, settings);
  if (think.ok && disabled.value && think.value !== false) {
    return refuse("invalid_parameter_combination", `'${path}' asks for thinking.`, "thinking");
  }
  return think;
}

function isDisabled(thinking: JsonValue): Result<boolean> {
  if (thinking === null) return success(false);
  if (!isObject(thinking)) return wrongType("thinking", "an object");
  if (thinking.type !== "disabled") return unsupported("thinking.type");
  return unknownMember(thinking, ["type"], "thinking") ?? success(true);
}

/** The effort a client asks for, under either of its names. */
function effortOf(
  value: JsonObject,
): Result<{ readonly path: string; readonly level: JsonValue }> {
  const plain = value.reasoning_effort ?? null;
  const reasoning = value.reasoning ?? {};
  if (!isObject(reasoning)) return wrongType("reasoning", "an object");
  const unknown = unknownMember(reasoning, ["effort"], "reasoning");
  if (unknown !== null) return unknown;
  const nested = reasoning.effort ?? null;
  if (plain !== null && nested !== null && plain !== nested) {
    return refuse(
      "invalid_parameter_combination",
      "'reasoning_effort' and 'reasoning.effort' must be equal when both are sent.",
      "reasoning.effort",
    );
  }
  return success(
    plain === null
      ? { path: "reasoning.effort", level: nested }
      : { path: "reasoning_effort", level: plain },
  );
}

const LEVELS: readonly JsonValue[] = ["low", "medium", "high"];

function levelOf(
  level: JsonValue,
  path: string,
  { capabilities }: ProviderConfig,
): Result<boolean | string> {
  if (typeof level !== "string") return wrongType(path, "a string");
  const listed = capabilities.reasoning_effort_levels;
  const permitted = listed.length === 0 ? LEVELS.includes(level) : listed.includes(level);
  if (!capabilities.reasoning_effort) return undeclared(path, "reasoning_effort");
  if (!permitted) return unsupported(path);
  if (level === "none") return success(false);
  // The runtime knows these and no others; mapping one to its neighbour would be a guess.
  return LEVELS.includes(level) || level === "max" ? success(level) : unsupported(path);
}
