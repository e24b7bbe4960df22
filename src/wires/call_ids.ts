import { callId, type ToolResult } from "../prompt/prompt.ts";
import type { Carrier } from "../prompt/carry.ts";
import { type Result, success } from "../core/failure/result.ts";
import type { Optional } from "../prompt/refusals.ts";
import type { IdSource } from "./wire.ts";

/**
 * Returns a function that chooses the ID of each tool call of one response: the upstream's ID, or a
 * new one if it is missing or already used in the response.
 */
export function newCallIds(
  idSource: Pick<IdSource, "uuid" | "callIdPrefix">,
): (given: Optional) => string {
  const prefix = idSource.callIdPrefix ?? "call_";
  const used = new Set<string>();
  return (given) => {
    let id = typeof given === "string" ? given : "";
    // Taken from the end of the UUID, because consecutive UUIDs may share their first characters.
    while (id === "" || used.has(id)) {
      id = `${prefix}${idSource.uuid().replaceAll("-", "").slice(-24)}`;
    }
    used.add(id);
    return id;
  };
}

/** Returns the ID of the call of a result that has none itself (Chat Completions, `function`). */
export function legacyResultId({ call, name, at }: ToolResult, carrier: Carrier): Result<string> {
  if (call !== null) return success(callId(call));
  const path = name?.at.path ?? `${at.path}.name`;
  return carrier.refuseValue(path, "must be the name of a call without a result");
}
