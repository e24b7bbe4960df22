import { createHash } from "node:crypto";
import { toolId } from "../../../wires/messages/ids.ts";

/** Prefix of the IDs of tool calls (Messages API, tool use). */
export const CALL_ID_PREFIX = "toolu_";

/**
 * Returns the ID of a tool call for the client: the upstream's, if the Messages API accepts it,
 * else a value that is derived from it. A call without an ID gets `toolu_` and 24 hexadecimal
 * digits, derived from the message and the number of the call, so that it is unique.
 */
export function callId(given: string, message: string, number: number): string {
  if (given !== "") return toolId(given);
  const hash = createHash("sha256").update(`${message} ${number}`).digest("hex");
  return `${CALL_ID_PREFIX}${hash.slice(0, 24)}`;
}
