import { type Result, success } from "../../core/failure/result.ts";
import { notCarried } from "../../prompt/carry.ts";
import type { Given } from "../../prompt/prompt.ts";
import { missing, wrongValue } from "../../prompt/refusals.ts";

/** Maximum length of a `call_id` (Responses API, function call output). */
const MAX_CALL_ID_CHARS = 64;

/** Returns the ID of a call, by which its result refers to it. */
export function encodeCallId({ value, at }: Given<string>): Result<string> {
  if (value === "") return missing(at.path);
  if (value !== value.trim()) {
    return wrongValue(at.path, "an id that neither begins nor ends with white space");
  }
  return value.length <= MAX_CALL_ID_CHARS
    ? success(value)
    : notCarried({ path: at.path }, `It may have at most ${MAX_CALL_ID_CHARS} characters.`);
}
