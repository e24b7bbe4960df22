import { isObject, type JsonDocument, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { ChatRequest } from "../chat_request/chat_request.ts";
import { parseEffort } from "../chat_request/effort.ts";
import {
  contradiction,
  undeclared,
  unknownMember,
  unsupported,
  wrongType,
} from "../chat_request/refusals.ts";
import type { Losses } from "../chat_request/losses.ts";
import { addSchemaLosses, parseSchema } from "../chat_request/json_schema.ts";
import { permitsCalls } from "../verified/format_promises.ts";
import type { Provider } from "../wire.ts";
import { exactMember, FIELDS } from "./fields.ts";

/**
 * Returns the runtime's `format`: "json", or the schema without its envelope; undefined if the
 * request sets no format. A schema needs the provider's structured_outputs capability. The flag of a strict one is
 * lossy unless the response `isVerified`.
 */
export function encodeFormat(
  document: JsonDocument,
  provider: Provider,
  losses: Losses,
  isVerified: boolean,
): Result<JsonValue | undefined> {
  const format = exactMember(document, "response_format");
  if (format === undefined) return success(undefined);
  if (!isObject(format)) return wrongType("response_format", "an object");
  switch (format.type) {
    case "text":
      return success(undefined);
    case "json_object":
      // The runtime enforces it only where no call is possible: else the gateway checks the response.
      return provider.settings.verify || !permitsCalls(document)
        ? success("json")
        : unsupported("response_format.type", "Use a provider with 'verify: true'.");
    case "json_schema":
      if (!provider.settings.capabilities.structured_outputs) {
        return undeclared("response_format", provider, "structured_outputs");
      }
      addSchemaLosses(format.json_schema, isVerified ? [false] : [true, false], losses);
      return parseSchema(format.json_schema, "response_format.json_schema");
    default:
      return unsupported("response_format.type");
  }
}

/** Returns the runtime's `think`; undefined if the request does not set it. */
export function encodeThink(
  { document: { value }, thinks = false }: Pick<ChatRequest, "document" | "thinks">,
  provider: Provider,
): Result<boolean | string | undefined> {
  const disabled = isDisabled(value.thinking ?? null);
  if (!disabled.ok) return disabled;
  const requested = parseEffort(value);
  if (!requested.ok) return requested;
  const { path, effort: level } = requested.value;
  if (level === null) return success(disabled.value ? false : thinks ? true : undefined);
  const think = encodeLevel(level, path, provider);
  if (think.ok && disabled.value && think.value !== false) {
    return contradiction("thinking", `'${path}' asks for thinking.`);
  }
  return think;
}

function isDisabled(thinking: JsonValue): Result<boolean> {
  if (thinking === null) return success(false);
  if (!isObject(thinking)) return wrongType("thinking", "an object");
  if (thinking.type !== "disabled") return unsupported("thinking.type");
  return unknownMember(thinking, FIELDS.members("thinking[disabled]"), "thinking") ?? success(true);
}

const LEVELS: readonly JsonValue[] = ["low", "medium", "high"];

function encodeLevel(
  level: JsonValue,
  path: string,
  provider: Provider,
): Result<boolean | string> {
  if (typeof level !== "string") return wrongType(path, "a string");
  const { reasoning_effort, reasoning_effort_levels: listed } = provider.settings.capabilities;
  if (!reasoning_effort) return undeclared(path, provider, "reasoning_effort");
  // The runtime has only these levels; mapping another level to the nearest one would be a guess.
  const isKnown = LEVELS.includes(level) || level === "max" || level === "none";
  if (!isKnown) return unsupported(path);
  const isPermitted = listed.length === 0 ? LEVELS.includes(level) : listed.includes(level);
  if (!isPermitted) return undeclared(path, provider, "reasoning_effort_levels");
  return success(level === "none" ? false : level);
}
