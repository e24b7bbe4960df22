import { isObject, type JsonDocument, type JsonObject, numberOf } from "../../../core/json/json.ts";
import { refuse, type Result, success } from "../../../core/result.ts";
import { findValue } from "../../../formats/edit.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import type { Target } from "../../../wires/wire.ts";
import { invalidValue, notAmong, unknownMember, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { carriedField, type ChatField, copiedField, newField } from "./chat_text.ts";
import { MESSAGES_FIELDS } from "./fields.ts";

/** IDs of a user that every Chat server takes: other vendors limit length and characters. */
const SHORT_USER_ID = /^[A-Za-z0-9_-]{1,64}$/;

type Fields = Result<readonly ChatField[]>;

/** Translates one group of top-level fields. Paths of dropped fields are added to `lossy`. */
type Section = (document: JsonDocument, target: Target, lossy: string[]) => Fields;

const SECTIONS: readonly Section[] = [limit, sampling, stop, user, serviceTier, format];

/** Translates the top-level fields besides dialogue, tools, thinking and effort. */
export function chatOptions(document: JsonDocument, target: Target, lossy: string[]): Fields {
  const fields: ChatField[] = [];
  for (const section of SECTIONS) {
    const made = section(document, target, lossy);
    if (!made.ok) return made;
    fields.push(...made.value);
  }
  return success(fields);
}

function limit(document: JsonDocument, { provider: { settings } }: Target): Fields {
  const given = document.value.max_tokens;
  const tokens = numberOf(given);
  if (tokens === null || !Number.isInteger(tokens)) {
    return wrongType(given, "max_tokens", "a valid integer");
  }
  if (tokens === 0) {
    // It asks to fill the vendor's prompt cache, without a response.
    const expected = "greater than or equal to 1";
    return refuse("unsupported_feature", { kind: "unexpected", expected }, "max_tokens");
  }
  if (tokens < 0) {
    return invalidValue("max_tokens", {
      kind: "unexpected",
      expected: "greater than or equal to 0",
    });
  }
  const most = Number(settings.extra.max_tokens ?? Infinity);
  if (tokens > most) {
    return unsupported("max_tokens", SENTENCES.maxTokens(String(tokens), String(most)));
  }
  return success(carriedField(document, "max_tokens", "max_completion_tokens"));
}

const NUMBERS = ["temperature", "top_p", "top_k"] as const;

function sampling(document: JsonDocument): Fields {
  const wrong = NUMBERS.find((key) => {
    const given = document.value[key] ?? null;
    return given !== null && numberOf(given) === null;
  });
  if (wrong !== undefined) return wrongType(document.value[wrong], wrong, "a valid number");
  return success(NUMBERS.flatMap((key) => carriedField(document, key, key)));
}

function stop({ value }: JsonDocument): Fields {
  const given = value.stop_sequences ?? [];
  if (!Array.isArray(given)) return wrongType(given, "stop_sequences", "a valid list");
  const wrong = given.findIndex((text) => typeof text !== "string");
  if (wrong >= 0) return wrongType(given[wrong], `stop_sequences.${wrong}`, "a valid string");
  return success(given.length === 0 ? [] : [newField("stop", given)]);
}

function user({ value }: JsonDocument, { wire }: Target, lossy: string[]): Fields {
  const metadata = value.metadata ?? {};
  if (!isObject(metadata)) return wrongType(metadata, "metadata", "a valid dictionary");
  const unknown = unknownMember(metadata, MESSAGES_FIELDS.members("metadata"), "metadata");
  if (unknown !== null) return unknown;
  const id = metadata.user_id ?? null;
  if (id === null) return success([]);
  if (typeof id !== "string") return wrongType(id, "metadata.user_id", "a valid string");
  if (wire.name !== "local" && SHORT_USER_ID.test(id)) return success([newField("user", id)]);
  lossy.push("metadata.user_id");
  return success([]);
}

function serviceTier({ value }: JsonDocument, { wire }: Target): Fields {
  const tier = value.service_tier ?? "auto";
  if (tier === "auto") return success([]);
  if (tier !== "standard_only") return notAmong("service_tier", ["auto", "standard_only"]);
  return success(wire.name === "local" ? [] : [newField("service_tier", "default")]);
}

function format(document: JsonDocument, { provider: { settings } }: Target): Fields {
  const { output_config: config = null, output_format: old = null } = document.value;
  if (config !== null && !isObject(config)) {
    return wrongType(config, "output_config", "a valid dictionary");
  }
  const newer = config?.format ?? null;
  const known = MESSAGES_FIELDS.members("output_config");
  const unknown = config === null ? null : unknownMember(config, known, "output_config");
  if (unknown !== null) return unknown;
  const given = newer ?? old;
  if (given === null) return success([]);
  if (newer !== null && old !== null) {
    const message = "Send either output_config.format or output_format, not both.";
    return invalidValue("output_format", message);
  }
  const steps = newer === null ? ["output_format"] : ["output_config", "format"];
  const path = steps.join(".");
  if (!settings.capabilities.structured_outputs) return unsupported(path);
  if (!isObject(given)) return wrongType(given, path, "a valid dictionary");
  return schemaFormat(document, given, steps);
}

/** Returns the response format of a schema, whose text is copied. */
function schemaFormat(
  { text }: JsonDocument,
  format: JsonObject,
  steps: readonly string[],
): Fields {
  const path = steps.join(".");
  const unknown = unknownMember(
    format,
    MESSAGES_FIELDS.members("output_format[json_schema]"),
    path,
  );
  if (unknown !== null) return unknown;
  if (format.type !== "json_schema") return notAmong(`${path}.type`, ["json_schema"]);
  const { schema } = format;
  if (!isObject(schema)) return wrongType(schema, `${path}.schema`, "a valid dictionary");
  const span = findValue(text, [...steps, "schema"]);
  const copied = span === null ? "{}" : text.slice(span.start, span.end);
  return success([copiedField(
    "response_format",
    { type: "json_schema", json_schema: { name: "output", schema, strict: true } },
    `{"type":"json_schema","json_schema":{"name":"output","schema":${copied},"strict":true}}`,
  )]);
}
