import type { Failed } from "../core/failure/result.ts";
import type { Carrier } from "./carry.ts";
import type { Prompt } from "./prompt.ts";

/**
 * Returns the refusal of a choice that requires or permits calls of tools which the request does
 * not have, for protocols that cannot carry it; otherwise null.
 */
export function choiceProblem(
  { choice, tools }: Pick<Prompt, "choice" | "tools">,
  carrier: Carrier,
): Failed | null {
  if (choice.kind === "unset" || choice.kind === "auto" || choice.kind === "none") return null;
  if (tools.length === 0) {
    return carrier.refuseValue(choice.at.path, "must be 'auto' or 'none' when there are no tools");
  }
  const declared = new Set(tools.map(({ name }) => name.value));
  const chosen = choice.kind === "named"
    ? [choice.tool]
    : choice.kind === "allowed"
    ? choice.tools
    : [];
  const unknown = chosen.find(({ name }) => !declared.has(name));
  return unknown === undefined
    ? null
    : carrier.refuseValue(unknown.at.path, "must be the name of one of the tools");
}
