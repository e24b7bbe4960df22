import type { Refusal } from "../core/failure.ts";
import { isExactId } from "../core/ids.ts";
import { type Failed, refuse } from "../core/result.ts";

/** Why a text is no identifier or cursor; null when it is one. White space inside it counts. */
export function identifierProblem(id: string, param: string): Failed<Refusal> | null {
  return isExactId(id)
    ? null
    : refuse("invalid_value", `'${param}' must be text without white space around it.`, param);
}
