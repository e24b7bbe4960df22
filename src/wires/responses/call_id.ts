import { type Result, success } from "../../core/failure/result.ts";
import type { Carrier } from "../../prompt/carry.ts";
import type { Given } from "../../prompt/prompt.ts";

/** Maximum length of a `call_id` (Responses API, function call output). */
const MAX_CALL_ID_CHARS = 64;

/** Returns the ID of a call, by which its result refers to it. */
export function encodeCallId({ value, at }: Given<string>, carrier: Carrier): Result<string> {
  if (value === "") return carrier.refuseAbsent(at.path);
  if (value !== value.trim()) {
    return carrier.refuseValue(
      at.path,
      "must be an id that neither begins nor ends with white space",
    );
  }
  return value.length <= MAX_CALL_ID_CHARS
    ? success(value)
    : carrier.refuse({ path: at.path }, `It may have at most ${MAX_CALL_ID_CHARS} characters.`);
}
