import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonObject, type JsonValue, numberOf } from "../../core/json/json.ts";
import type { Failed } from "../../core/result.ts";
import type { FieldTable, Treatment } from "../field_table.ts";
import type { ChatField } from "./chat_fields.ts";
import { COMMON } from "./common_rows.ts";
import { isEmpty, unknownMember, unsupported, wrongType } from "./refusals.ts";

const STREAM_OPTIONS = COMMON.members("stream_options");

/**
 * Returns the refusal of the first request field that the field table of the wire refuses; null if
 * there is none. Null always requests nothing.
 */
export function unsupportedField(
  body: JsonObject,
  { topLevel }: FieldTable<ChatField>,
): Failed<Refusal> | null {
  for (const [key, value] of Object.entries(body)) {
    if ((value ?? null) === null || value === undefined) continue;
    const treatment = topLevel.get(key);
    if (treatment === undefined || isRefused(treatment, value)) return unsupported(key);
  }
  return unsupportedStreamOption(body.stream_options ?? null);
}

/** True if a field with this value is refused: values that request nothing never are. */
export function isRefused(treatment: Treatment, value: JsonValue): boolean {
  return treatment.kind === "refused" &&
    !(treatment.unless ?? []).some((noOp) => isSame(noOp, value));
}

/** True if a value equals one that requests nothing. A number may be its exact text. */
function isSame(noOp: JsonValue, value: JsonValue): boolean {
  if (isEmpty(noOp)) return isEmpty(value);
  const number = numberOf(noOp);
  if (number !== null) return numberOf(value) === number;
  if (!Array.isArray(noOp)) return noOp === value;
  return Array.isArray(value) && value.length === noOp.length &&
    noOp.every((item, index) => isSame(item, value[index] ?? null));
}

/**
 * Returns the refusal of an unsupported stream option. Padding (`include_obfuscation`) is refused
 * because translated chunks lose it.
 */
function unsupportedStreamOption(options: JsonValue): Failed<Refusal> | null {
  if (options === null) return null;
  if (!isObject(options)) return wrongType("stream_options", "an object");
  if (options.include_obfuscation === true) {
    return unsupported("stream_options.include_obfuscation");
  }
  return unknownMember(options, STREAM_OPTIONS, "stream_options");
}
