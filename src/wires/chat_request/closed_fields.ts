import type { Refusal } from "../../core/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import type { Failed } from "../../core/result.ts";
import { type FieldTable, isRefused } from "../../prompt/field_table.ts";
import type { ChatField } from "../../prompt/chat_fields.ts";
import { COMMON } from "./common_rows.ts";
import { unknownMember, unsupported, wrongType } from "./refusals.ts";

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
