import type { Call } from "../call/call.ts";
import type { Route } from "../call/generation.ts";
import { chooseRecord } from "./select.ts";

/** The words for what is recorded. */
const KINDS = { heads: "its figures", all: "its figures and its content" } as const;

/**
 * Returns what would be recorded of a request that a route serves, and why, as a line; none while
 * nothing is recorded.
 */
export function explainRecord(
  { generation: { config }, controls, client: { key } }: Pick<
    Call,
    "generation" | "controls" | "client"
  >,
  route: Route | undefined,
): readonly string[] {
  if (!config.record.enabled) return [];
  if (controls.noRecord) return ["Not recorded: the X-Gateway-No-Record header is set."];
  const chosen = chooseRecord(config, key, route ?? null);
  if (chosen !== null) return [`Recorded: ${KINDS[chosen.kind]}, by its ${chosen.why.join(", ")}.`];
  const choices = [key?.record?.key, key?.record?.groups, route?.record];
  return [
    choices.includes("never")
      ? "Not recorded: its key, a group or its route says never."
      : "Not recorded: neither its key, a group, its route nor record.calls says so.",
  ];
}
