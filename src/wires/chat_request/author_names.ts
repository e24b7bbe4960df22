import { isObject } from "../../core/json/json.ts";
import type { Optional } from "./refusals.ts";

/** Roles whose messages may have the name of their author. */
const NAMED_ROLES: readonly Optional[] = ["system", "developer", "user", "assistant"];

/**
 * Returns the paths of the authors' names in the messages of a request, for protocols that have no
 * place for them. Types are not validated.
 */
export function authorNamePaths(messages: Optional): readonly string[] {
  return (Array.isArray(messages) ? messages : []).flatMap((message, index) =>
    isObject(message) && NAMED_ROLES.includes(message.role) && (message.name ?? "") !== ""
      ? [`messages[${index}].name`]
      : []
  );
}
