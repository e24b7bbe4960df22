import {
  isObject,
  type JsonDocument,
  type JsonObject,
  numberOf,
  parseExact,
} from "../../../core/json/json.ts";
import { refuse, type Result, success } from "../../../core/failure/result.ts";
import { findValue } from "../../../formats/edit.ts";
import { exactMember } from "../../../prompt/exact_member.ts";
import type { Format, Given, GivenNumber, Prompt } from "../../../prompt/prompt.ts";
import { allIn, numberIn } from "../../../prompt/read.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import type { Target } from "../../../wires/wire.ts";
import { invalidValue, notAmong, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { objectAt, textAt, unknownIn } from "./read.ts";

/** IDs of a user that every Chat server takes: other vendors limit length and characters. */
const SHORT_USER_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The top-level fields besides dialogue, tools, thinking and effort. */
type Options = Pick<Prompt, "limits" | "sampling" | "stop" | "labels" | "format">;

/** Context in which fields are parsed. */
interface OptionsInput {
  readonly target: Target;
  /** Paths of dropped fields, to which a parser adds. */
  readonly lossy: string[];
  /** True if only the tokens of the request are counted, so that no response has a limit. */
  readonly isCount: boolean;
}

/** Parses the top-level fields besides dialogue, tools, thinking and effort. */
export function parseOptions(document: JsonDocument, input: OptionsInput): Result<Options> {
  const { value } = document;
  const { target: { wire } } = input;
  const number = (key: "temperature" | "top_p" | "top_k") => samplingNumber(document, key, input);
  return allIn<Options>({
    limits: allIn({
      completion: input.isCount ? success(null) : parseLimit(document, input.target),
      legacy: success(null),
    }),
    sampling: allIn({
      temperature: number("temperature"),
      topP: number("top_p"),
      topK: number("top_k"),
      presencePenalty: success(null),
      frequencyPenalty: success(null),
      seed: success(null),
    }),
    stop: parseStop(value),
    labels: allIn({
      user: parseUserId(value, input),
      safetyIdentifier: success(null),
      serviceTier: parseTier(value, wire.name === "local"),
      metadata: success(null),
      cacheControl: success(null),
      cacheKey: success(null),
      cacheRetention: success(null),
      cacheOptions: success(null),
      moderation: success(null),
    }),
    format: parseFormat(document, input),
  });
}

function parseLimit(
  document: JsonDocument,
  { provider: { settings } }: Target,
): Result<GivenNumber | null> {
  const path = "max_tokens";
  const given = document.value.max_tokens;
  const tokens = numberOf(given);
  if (tokens === null || !Number.isInteger(tokens)) {
    return wrongType(given, path, "a valid integer");
  }
  if (tokens === 0) {
    // It asks to fill the vendor's prompt cache, without a response.
    const expected = "greater than or equal to 1";
    return refuse("unsupported_feature", { kind: "unexpected", expected }, path);
  }
  if (tokens < 0) {
    return invalidValue(path, { kind: "unexpected", expected: "greater than or equal to 0" });
  }
  const most = Number(settings.extra.max_tokens ?? Infinity);
  if (tokens > most) {
    return unsupported(path, SENTENCES.maxTokens(String(tokens), String(most)));
  }
  return numberIn(exactMember(document, path), { field: "max_completion_tokens", path });
}

function samplingNumber(
  document: JsonDocument,
  key: "temperature" | "top_p" | "top_k",
  { target: { wire } }: OptionsInput,
): Result<GivenNumber | null> {
  const given = document.value[key] ?? null;
  if (given === null) return success(null);
  if (numberOf(given) === null) return wrongType(given, key, "a valid number");
  const at = { field: key, path: key } as const;
  const isWhole = key === "top_k" && wire.name === "local";
  return numberIn(exactMember(document, key), at, isWhole);
}

function parseStop({ stop_sequences: given = null }: JsonObject): Result<Prompt["stop"]> {
  const path = "stop_sequences";
  const list = given ?? [];
  if (!Array.isArray(list)) return wrongType(list, path, "a valid list");
  const stops: Given<string>[] = [];
  for (const [index, one] of list.entries()) {
    const text = textAt(one, `${path}.${index}`);
    if (!text.ok) return text;
    stops.push({ value: text.value, at: { field: "stop", path: `${path}.${index}` } });
  }
  return success(stops.length === 0 ? null : { value: stops, at: { field: "stop", path } });
}

function parseUserId(
  value: JsonObject,
  { target: { wire }, lossy }: OptionsInput,
): Result<Given<string> | null> {
  const metadata = objectAt(value.metadata ?? {}, "metadata");
  if (!metadata.ok) return metadata;
  const unknown = unknownIn(metadata.value, "metadata", "metadata");
  if (unknown !== null) return unknown;
  const path = "metadata.user_id";
  const given = metadata.value.user_id ?? null;
  if (given === null) return success(null);
  const id = textAt(given, path);
  if (!id.ok) return id;
  if (wire.name !== "local" && SHORT_USER_ID.test(id.value)) {
    return success({ value: id.value, at: { field: "user", path } });
  }
  lossy.push(path);
  return success(null);
}

function parseTier(
  { service_tier: given = null }: JsonObject,
  isLocal: boolean,
): Result<Given<string> | null> {
  const path = "service_tier";
  const tier = given ?? "auto";
  if (tier !== "auto" && tier !== "standard_only") return notAmong(path, ["auto", "standard_only"]);
  return success(
    tier === "auto" || isLocal ? null : { value: "default", at: { field: path, path } },
  );
}

function parseFormat(
  { text, value: { output_config: given = null, output_format: older = null } }: JsonDocument,
  { target: { provider: { settings } } }: OptionsInput,
): Result<Format | null> {
  const config = objectAt(given ?? {}, "output_config");
  if (!config.ok) return config;
  const unknown = unknownIn(config.value, "output_config", "output_config");
  if (unknown !== null) return unknown;
  const newer = config.value.format ?? null;
  if (newer === null && older === null) return success(null);
  if (newer !== null && older !== null) {
    const message = "Send either output_config.format or output_format, not both.";
    return invalidValue("output_format", message);
  }
  const steps = newer === null ? ["output_format"] : ["output_config", "format"];
  const path = steps.join(".");
  if (!settings.capabilities.structured_outputs) return unsupported(path);
  const format = objectAt(newer ?? older, path);
  if (!format.ok) return format;
  const other = unknownIn(format.value, "output_format[json_schema]", path);
  if (other !== null) return other;
  if (format.value.type !== "json_schema") return notAmong(`${path}.type`, ["json_schema"]);
  const schema = objectAt(format.value.schema, `${path}.schema`);
  return schema.ok ? success(schemaFormat(text, steps, path)) : schema;
}

/** Returns the format of a schema. The API has nothing else, so that nothing else is lossy. */
function schemaFormat(text: string, steps: readonly string[], path: string): Format {
  const span = findValue(text, [...steps, "schema"]);
  const copied = span === null ? "{}" : text.slice(span.start, span.end);
  const schema = parseExact(copied);
  const at = { field: "response_format[json_schema]", path } as const;
  const schemaAt = { field: "response_format[json_schema].json_schema.schema", path } as const;
  return {
    kind: "json_schema",
    at,
    name: { value: "output", at: schemaAt },
    description: null,
    schema: { value: isObject(schema) ? schema : {}, text: copied, at: schemaAt },
    strict: { value: true, at: schemaAt },
  };
}
