import { isObject, type JsonObject, type JsonValue } from "../../core/json/json.ts";
import { type Result, success } from "../../core/result.ts";
import { COMMON } from "./common_rows.ts";
import { contradiction, unknownMember, wrongType } from "./refusals.ts";

/** The reasoning effort of a request, and the field that holds it. */
export interface RequestedEffort {
  readonly path: "reasoning_effort" | "reasoning.effort";
  /** Null if the request sets no effort. */
  readonly effort: JsonValue;
}

/** Returns the reasoning effort from either of its two request fields. */
export function parseEffort(body: JsonObject): Result<RequestedEffort> {
  const plain = body.reasoning_effort ?? null;
  const reasoning = body.reasoning ?? {};
  if (!isObject(reasoning)) return wrongType("reasoning", "an object");
  const unknown = unknownMember(reasoning, COMMON.members("reasoning"), "reasoning");
  if (unknown !== null) return unknown;
  const nested = reasoning.effort ?? null;
  if (plain !== null && nested !== null && plain !== nested) {
    return contradiction(
      "reasoning.effort",
      "'reasoning_effort' and 'reasoning.effort' must be equal when both are sent.",
    );
  }
  return success(
    plain === null
      ? { path: "reasoning.effort", effort: nested }
      : { path: "reasoning_effort", effort: plain },
  );
}
