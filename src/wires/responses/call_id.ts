import { type Result, success } from "../../core/result.ts";
import {
  missing,
  type Optional,
  unsupported,
  wrongType,
  wrongValue,
} from "../chat_request/refusals.ts";

/** Maximum length of a `call_id` (Responses API, function call output). */
const MAX_CALL_ID_CHARS = 64;

/** Returns the ID of a call, by which its result refers to it. */
export function parseCallId(given: Optional, path: string): Result<string> {
  if ((given ?? null) === null || given === "") return missing(path);
  if (typeof given !== "string") return wrongType(path, "a string");
  if (given !== given.trim()) {
    return wrongValue(path, "an id that neither begins nor ends with white space");
  }
  return given.length <= MAX_CALL_ID_CHARS
    ? success(given)
    : unsupported(path, `It may have at most ${MAX_CALL_ID_CHARS} characters.`);
}
