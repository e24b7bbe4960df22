import { type Result, success } from "../../../core/failure/result.ts";
import type { Choice, FieldRef, Prompt } from "../../../prompt/prompt.ts";
import type { Optional } from "../../../prompt/refusals.ts";
import type { WireName } from "../../../wires/wire.ts";
import { invalidValue, notAmong } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { type DeclaredTools, upstreamName } from "./parse_tools.ts";
import { flagAt, objectAt, textAt, unknownIn } from "./read.ts";

/** The choice of a tool as the client wrote it. */
export interface GivenChoice {
  readonly type: keyof typeof KINDS;
  /** The named tool; null unless the type is `tool`. */
  readonly name: string | null;
  readonly isParallel: boolean;
}

/** Types of a choice with those of a prompt; a named tool differs. */
const KINDS = { auto: "auto", any: "required", tool: "required", none: "none" } as const;

const TYPES = ["auto", "any", "tool", "none"] as const;

/** Parses `tool_choice`; null if the request sets none. */
export function parseChoice(given: Optional): Result<GivenChoice | null> {
  if ((given ?? null) === null) return success(null);
  const path = "tool_choice";
  const choice = objectAt(given, path);
  if (!choice.ok) return choice;
  const type = TYPES.find((one) => one === choice.value.type);
  if (type === undefined) return notAmong(`${path}.type`, TYPES);
  const unknown = unknownIn(choice.value, `tool_choice[${type}]`, path);
  if (unknown !== null) return unknown;
  const name = type === "tool" ? textAt(choice.value.name, `${path}.name`) : success(null);
  if (!name.ok) return name;
  const { disable_parallel_tool_use: isDisabled } = choice.value;
  const disabled = flagAt(isDisabled, `${path}.disable_parallel_tool_use`);
  if (!disabled.ok) return disabled;
  // Without calls there is nothing to say about them.
  const isParallel = disabled.value !== true || type === "none";
  return success({ type, name: name.value, isParallel });
}

/**
 * Returns the members of a prompt for a choice; refused if it requires a call and no tool is sent.
 */
export function promptChoice(
  choice: GivenChoice | null,
  { byName }: DeclaredTools,
  hasTools: boolean,
  wire: WireName,
): Result<Pick<Prompt, "choice" | "parallelCalls">> {
  const unset = { choice: { kind: "unset" }, parallelCalls: null } as const;
  if (choice === null) return success(unset);
  const { type, name, isParallel } = choice;
  if (name !== null && !byName.has(name)) {
    return invalidValue("tool_choice.name", SENTENCES.unknownTool(name));
  }
  if (!hasTools) {
    return type === "auto" || type === "none"
      ? success(unset)
      : invalidValue("tool_choice", SENTENCES.choiceWithoutTools);
  }
  const made = name === null ? plainChoice(KINDS[type]) : namedChoice(upstreamName(name, wire));
  const parallelAt: FieldRef = {
    field: "parallel_tool_calls",
    path: "tool_choice.disable_parallel_tool_use",
  };
  return success({
    choice: made,
    parallelCalls: isParallel ? null : { value: false, at: parallelAt },
  });
}

function plainChoice(kind: "auto" | "required" | "none") {
  return { kind, at: { field: `tool_choice=${kind}`, path: "tool_choice" } } as const;
}

function namedChoice(name: string): Choice & { readonly kind: "named" } {
  const field = "tool_choice[function].function.name";
  return {
    kind: "named",
    at: { field, path: "tool_choice" },
    tool: { kind: "function", name, at: { field, path: "tool_choice.name" } },
  };
}
