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
import { closeSchema, isAnyObject } from "./closed_schema.ts";
import { FIELDS } from "./fields.ts";
import { type Losses, newLosses } from "../chat_request/losses.ts";
import { addSchemaLosses, parseSchema } from "../chat_request/json_schema.ts";
import type { Provider } from "../wire.ts";

const DEFAULT_LEVELS: readonly string[] = ["low", "medium", "high"];

/** Returns `thinking` as the client sent it. A reasoning effort never adds it. */
export function thinking({ body, provider }: SectionInput): Result<JsonObject> {
  const given = body.thinking ?? null;
  if (given === null) return success({});
  if (!isObject(given)) return wrongType("thinking", "an object");
  const isAdaptive = given.type === "adaptive" &&
    provider.settings.capabilities.adaptive_thinking;
  if (given.type === "adaptive" && !isAdaptive) {
    return undeclared("thinking.type", provider, "adaptive_thinking");
  }
  if (!isAdaptive && given.type !== "disabled") return unsupported("thinking.type");
  const known = FIELDS.members(isAdaptive ? "thinking[adaptive]" : "thinking[disabled]");
  return unknownMember(given, known, "thinking") ?? success({ thinking: given });
}

/** Returns `output_config`: the effort and the format of the response. */
export function outputConfig({ body, provider, losses }: SectionInput): Result<JsonObject> {
  const effort = encodeEffort(body, provider);
  if (!effort.ok) return effort;
  const format = encodeFormat(body.response_format ?? null, provider, losses);
  if (!format.ok) return format;
  const config = { ...effort.value, ...format.value };
  return success(Object.keys(config).length === 0 ? {} : { output_config: config });
}

function encodeEffort(body: JsonObject, provider: Provider): Result<JsonObject> {
  const requested = parseEffort(body);
  if (!requested.ok) return requested;
  const { path, effort } = requested.value;
  if (effort === null) return success({});
  if (typeof effort !== "string") return wrongType(path, "a string");
  const { reasoning_effort, reasoning_effort_levels: listed } = provider.settings.capabilities;
  if (!reasoning_effort) return undeclared(path, provider, "reasoning_effort");
  // The Messages API has neither level, whatever the provider's list contains.
  if (effort === "none" || effort === "minimal") return unsupported(path);
  const isPermitted = (listed.length === 0 ? DEFAULT_LEVELS : listed).includes(effort);
  return isPermitted ? success({ effort }) : undeclared(path, provider, "reasoning_effort_levels");
}

function encodeFormat(
  format: JsonValue,
  provider: Provider,
  losses: Losses,
): Result<JsonObject> {
  if (format === null) return success({});
  if (!isObject(format)) return wrongType("response_format", "an object");
  switch (format.type) {
    case "text":
      return success({});
    case "json_schema":
      return provider.settings.capabilities.structured_outputs
        ? schemaFormat(format.json_schema, provider, losses)
        : undeclared("response_format", provider, "structured_outputs");
    case "json_object":
      // The API has no such format: the gateway checks the response.
      return provider.settings.verify
        ? success({})
        : unsupported("response_format.type", "Use a provider with 'verify: true'.");
    default:
      return unsupported("response_format.type");
  }
}

/**
 * Returns the schema format. Name and description are only labels and are dropped; the upstream
 * always enforces a schema. The objects of a schema that is not strict are closed. If that would permit
 * only `{}`, the gateway checks that the response is an object.
 */
function schemaFormat(
  given: Optional,
  { settings: { verify } }: Provider,
  losses: Losses,
): Result<JsonObject> {
  const path = "response_format.json_schema";
  const parsed = parseSchema(given, path);
  if (!parsed.ok) return parsed;
  const at = `${path}.schema`;
  const open = newLosses();
  const schema = closeSchema(parsed.value, at, open);
  const opened = open.member().lossy ?? [];
  const [first] = opened;
  if (first !== undefined && isObject(given) && given.strict === true) {
    return unsupported(first, "The objects of a strict schema need 'additionalProperties: false'.");
  }
  const isAny = isAnyObject(parsed.value);
  addSchemaLosses(given, isAny ? [] : [false], losses);
  if (isAny) {
    losses.add(at);
    return verify ? success({}) : unsupported(at, "Use a provider with 'verify: true'.");
  }
  for (const lost of opened) losses.add(lost);
  return success({ format: { type: "json_schema", schema } });
}
