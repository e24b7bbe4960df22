import { createHash } from "node:crypto";
import { toolId } from "../../../wires/messages/ids.ts";

/**
 * Returns the ID of a tool call for the client: the upstream's, if the Messages API accepts it, else
 * a value that is derived from it. A call without an ID gets `toolu_` and 24 hexadecimal digits,
 * derived from the message and the number of the call, so that it is unique.
 */
export function callId(given: string, message: string, number: number): string {
  if (given !== "") return toolId(given);
  const hash = createHash("sha256").update(`${message} ${number}`).digest("hex");
  return `toolu_${hash.slice(0, 24)}`;
}
