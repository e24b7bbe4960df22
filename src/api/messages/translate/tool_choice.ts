import { isObject } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import type { Optional } from "../../../prompt/refusals.ts";
import type { WireName } from "../../../wires/wire.ts";
import { invalidValue, notAmong, unknownMember, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { type ChatField, newField } from "./chat_text.ts";
import { MESSAGES_FIELDS } from "./fields.ts";
import { type DeclaredTools, upstreamName } from "./tools.ts";

/** The choice of a tool. */
export interface ToolChoice {
  readonly type: "auto" | "any" | "tool" | "none";
  /** The named tool; null unless the type is `tool`. */
  readonly name: string | null;
  readonly isParallel: boolean;
}

const CHOICES = ["auto", "any", "tool", "none"] as const;

/** Parses `tool_choice`; null if the request sets none. */
export function parseToolChoice(given: Optional): Result<ToolChoice | null> {
  if ((given ?? null) === null) return success(null);
  if (!isObject(given)) return wrongType(given, "tool_choice", "a valid dictionary");
  const type = CHOICES.find((one) => one === given.type);
  if (type === undefined) return notAmong("tool_choice.type", CHOICES);
  const { name = null, disable_parallel_tool_use: disabled = null } = given;
  const unknown = unknownMember(
    given,
    MESSAGES_FIELDS.members(`tool_choice[${type}]`),
    "tool_choice",
  );
  if (unknown !== null) return unknown;
  if (type === "tool" && typeof name !== "string") {
    return wrongType(name, "tool_choice.name", "a valid string");
  }
  if (disabled !== null && typeof disabled !== "boolean") {
    return wrongType(disabled, "tool_choice.disable_parallel_tool_use", "a valid boolean");
  }
  return success({
    type,
    name: typeof name === "string" ? name : null,
    // Without calls there is nothing to say about them.
    isParallel: disabled !== true || type === "none",
  });
}

/** Returns the fields of a choice; refused if it requires a call and no tool is sent. */
export function choiceFields(
  choice: ToolChoice | null,
  { byName }: DeclaredTools,
  hasTools: boolean,
  wire: WireName,
): Result<readonly ChatField[]> {
  if (choice === null) return success([]);
  const { type, name, isParallel } = choice;
  if (name !== null && !byName.has(name)) {
    return invalidValue("tool_choice.name", SENTENCES.unknownTool(name));
  }
  if (!hasTools) {
    return type === "auto" || type === "none"
      ? success([])
      : invalidValue("tool_choice", SENTENCES.choiceWithoutTools);
  }
  const called = name === null ? null : { name: upstreamName(name, wire) };
  const value = called === null
    ? { auto: "auto", any: "required", tool: "required", none: "none" }[type]
    : { type: "function", function: called };
  return success([
    newField("tool_choice", value),
    ...isParallel ? [] : [newField("parallel_tool_calls", false)],
  ]);
}
