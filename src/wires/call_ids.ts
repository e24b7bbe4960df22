import type { Optional } from "./chat_request/refusals.ts";
import type { IdSource } from "./wire.ts";

/**
 * Returns a function that names the calls of one answer: the id that the upstream gave, or a new one
 * where it is missing or another call of the answer has it already.
 */
export function newCallIds(mint: Pick<IdSource, "uuid">): (given: Optional) => string {
  const used = new Set<string>();
  return (given) => {
    let id = typeof given === "string" ? given : "";
    // From the back: what makes ids differ is at their end.
    while (id === "" || used.has(id)) id = `call_${mint.uuid().replaceAll("-", "").slice(-24)}`;
    used.add(id);
    return id;
  };
}
