import type { Refusal } from "../../../core/failure/failure.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../core/json/json.ts";
import type { Failed } from "../../../core/failure/result.ts";
import { isEmpty, unsupported } from "../../../prompt/refusals.ts";
import { shown } from "../sentences.ts";
import { READ_FIELDS } from "./fields.ts";

/** Values of other fields that ask for nothing. */
const IS_NO_OP: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ["context_management", clearsNothing],
  ["speed", (value) => value === "standard"],
  ["diagnostics", hasNoPrevious],
]);

/** Returns the refusal of the first field without a counterpart that asks for something. */
export function refusedField(value: JsonObject): Failed<Refusal> | null {
  for (const key in value) {
    const given = value[key];
    if (READ_FIELDS.has(key) || given === undefined || isEmpty(given)) continue;
    if (IS_NO_OP.get(key)?.(given) !== true) return unsupported(shown(key));
  }
  return null;
}

/** True if every edit keeps all thinking, which is what happens without any edit. */
function clearsNothing(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  const { edits, ...others } = value;
  if (Object.values(others).some((other) => !isEmpty(other))) return false;
  if (isEmpty(edits)) return true;
  return Array.isArray(edits) && edits.every(keepsAll);
}

function keepsAll(edit: JsonValue): boolean {
  if (!isObject(edit)) return false;
  const { type, keep, ...others } = edit;
  const isThinking = typeof type === "string" && type.startsWith("clear_thinking_");
  const isAll = keep === "all" ||
    (isObject(keep) && keep.type === "all" && Object.keys(keep).length === 1);
  return isThinking && isAll && Object.values(others).every(isEmpty);
}

function hasNoPrevious(value: JsonValue): boolean {
  return isObject(value) && Object.values(value).every(isEmpty);
}
