import type { JsonObject } from "../../core/json/json.ts";
import type { Failed } from "../../core/failure/result.ts";
import type { Carrier } from "../carry.ts";
import type { FieldRef } from "../prompt.ts";
import { textOf } from "../read.ts";

/** A message of the request. */
export interface GivenMessage {
  /** The message as the client wrote it. */
  readonly given: JsonObject;
  /** The message without the fields that only repeat others. */
  readonly message: JsonObject;
  readonly path: string;
  readonly index: number;
}

/** Returns the refusal of the name of an author, for which no protocol but Chat has a place. */
export function nameProblem(
  message: JsonObject,
  role: "system" | "user" | "assistant",
  path: string,
  carrier: Carrier,
): Failed | null {
  const at: FieldRef = { field: `messages[${role}].name`, path: `${path}.name` };
  const name = textOf(message.name, at);
  if (!name.ok) return name;
  return (name.value?.value ?? "") === "" ? null : carrier.use(at);
}
