import type { ProviderConfig } from "../../config/schema.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import type { SectionInput } from "./controls.ts";
import { parseEffort } from "../chat_request/effort.ts";
import {
  type Optional,
  undeclared,
  unknownMember,
  unsupported,
  wrongType,
} from "../chat_request/refusals.ts";
import { parseSchema } from "../chat_request/json_schema.ts";

const DEFAULT_LEVELS: readonly string[] = ["low", "medium", "high"];

/** Returns `thinking` as the client sent it. A reasoning effort never adds it. */
export function thinking({ body, settings }: SectionInput): Result<JsonObject> {
  const given = body.thinking ?? null;
  if (given === null) return success({});
  if (!isObject(given)) return wrongType("thinking", "an object");
  const isAdaptive = given.type === "adaptive" && settings.capabilities.adaptive_thinking;
  if (given.type === "adaptive" && !isAdaptive) {
    return undeclared("thinking.type", "adaptive_thinking");
  }
  if (!isAdaptive && given.type !== "disabled") return unsupported("thinking.type");
  const known = isAdaptive ? ["type", "display"] : ["type"];
  return unknownMember(given, known, "thinking") ?? success({ thinking: given });
}

/** Returns `output_config`: the effort and the format of the response. */
export function outputConfig({ body, settings }: SectionInput): Result<JsonObject> {
  const effort = encodeEffort(body, settings);
  if (!effort.ok) return effort;
  const format = encodeFormat(body.response_format ?? null, settings);
  if (!format.ok) return format;
  const config = { ...effort.value, ...format.value };
  return success(Object.keys(config).length === 0 ? {} : { output_config: config });
}

function encodeEffort(body: JsonObject, settings: ProviderConfig): Result<JsonObject> {
  const requested = parseEffort(body);
  if (!requested.ok) return requested;
  const { path, effort } = requested.value;
  if (effort === null) return success({});
  if (typeof effort !== "string") return wrongType(path, "a string");
  if (!settings.capabilities.reasoning_effort) return undeclared(path, "reasoning_effort");
  return isPermitted(effort, settings) ? success({ effort }) : unsupported(path);
}

function isPermitted(effort: string, { capabilities }: ProviderConfig): boolean {
  // The Messages API has neither level, whatever the provider's list contains.
  if (effort === "none" || effort === "minimal") return false;
  const listed = capabilities.reasoning_effort_levels;
  return (listed.length === 0 ? DEFAULT_LEVELS : listed).includes(effort);
}

function encodeFormat(format: JsonValue, settings: ProviderConfig): Result<JsonObject> {
  if (format === null) return success({});
  if (!isObject(format)) return wrongType("response_format", "an object");
  switch (format.type) {
    case "text":
      return success({});
    case "json_schema":
      return settings.capabilities.structured_outputs
        ? schemaFormat(format.json_schema)
        : undeclared("response_format", "structured_outputs");
    case "json_object":
      // The API has no such format: the gateway checks the response.
      return settings.verify
        ? success({})
        : unsupported("response_format.type", "Use a provider with 'verify: true'.");
    default:
      return unsupported("response_format.type");
  }
}

/**
 * Returns the schema format. Name and description are only labels and are dropped; the upstream
 * always enforces a schema.
 */
function schemaFormat(given: Optional): Result<JsonObject> {
  const schema = parseSchema(given, "response_format.json_schema");
  return schema.ok ? success({ format: { type: "json_schema", schema: schema.value } }) : schema;
}
