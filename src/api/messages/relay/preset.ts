import {
  isObject,
  type JsonDocument,
  type JsonObject,
  type JsonValue,
} from "../../../core/json/json.ts";
import { type Failed, type Result, success } from "../../../core/failure/result.ts";
import { type Entry, parseElements } from "../../../formats/edit.ts";
import type { Parameters } from "../../../prompt/preset.ts";
import { unsupported } from "../../../prompt/refusals.ts";
import { refuseParameters } from "../../../wires/preset_refusal.ts";
import { MAX_UNTHINKING_EFFORT, needsThinking } from "../../../wires/messages/thinking.ts";
import { fillMembers, type ParameterPlaces, withInner } from "../../../wires/preset_members.ts";
import type { Target } from "../../../wires/wire.ts";
import { SENTENCES } from "../sentences.ts";

/** Changes that a named model makes in the text of a Messages client. */
export interface RelayedPreset {
  readonly entries: readonly Entry[];
  readonly values: JsonObject;
}

const NOTHING: RelayedPreset = { entries: [], values: {} };

/** Parameters that the API refuses with thinking, and in newer versions (Messages API). */
const SAMPLING: readonly (keyof Parameters)[] = ["temperature", "top_p", "top_k"];

/**
 * Returns the members that a named model sets in a Messages request; none for a route. Refuses a
 * target whose provider does not take a parameter. `hasSampling` is false for a request that may
 * have no sampling fields. `isThinkingOff` returns true if the gateway turns thinking off.
 */
export function relayedPreset(
  document: JsonDocument,
  target: Target,
  hasSampling: boolean,
  isThinkingOff: () => boolean,
): Result<RelayedPreset> {
  const { named } = target;
  if (named === undefined) return success(NOTHING);
  const { entries, values, filled } = fillMembers(
    document,
    named.preset,
    places(hasSampling, isThinkingOff),
  );
  const refused = refuseParameters(filled, target, true);
  if (refused !== null) return refused;
  const choice = serialChoice(document, named.preset.parameters);
  const system = systemEntries(document, target);
  return success({ entries: [...entries, ...choice, ...system], values });
}

function places(hasSampling: boolean, isThinkingOff: () => boolean): ParameterPlaces {
  return {
    places: {
      effort: ["output_config", "effort"],
      temperature: ["temperature"],
      top_p: ["top_p"],
      top_k: ["top_k"],
      max_tokens: ["max_tokens"],
      service_tier: ["service_tier"],
      stop: ["stop_sequences"],
    },
    isTaken: (key, { thinking }) =>
      key === "parallel_tool_calls" || !hasSampling && SAMPLING.includes(key) ||
      key === "effort" && isObject(thinking) && thinking.type === "disabled",
    written(key, value) {
      if (key === "service_tier") return tier(value);
      const isHigh = key === "effort" && needsThinking(value) && isThinkingOff();
      return isHigh ? MAX_UNTHINKING_EFFORT : value;
    },
  };
}

/** Returns the value of `service_tier`, which has two here; `auto` is what the API does without. */
function tier(value: JsonValue): JsonValue | undefined {
  return value === "default" ? "standard_only" : undefined;
}

/** Returns the choice of tools by which the model calls one tool at most. */
function serialChoice(document: JsonDocument, { parallel_tool_calls }: Parameters): Entry[] {
  const { tools, tool_choice: choice = null } = document.value;
  if (parallel_tool_calls !== false || !Array.isArray(tools) || tools.length === 0) return [];
  const key = "disable_parallel_tool_use";
  if (choice === null) return [["tool_choice", JSON.stringify({ type: "auto", [key]: true })]];
  const isOpen = isObject(choice) && choice.type !== "none" && (choice[key] ?? null) === null;
  return isOpen ? [["tool_choice", withInner(document, "tool_choice", [key, "true"])]] : [];
}

/** Returns the instructions of the client with those of a named model as a block after them. */
export function systemEntries(
  { text, value, members }: JsonDocument,
  { named }: Target,
): readonly Entry[] {
  const system = named?.preset.system ?? null;
  if (system === null) return [];
  const block = (words: string) => JSON.stringify({ type: "text", text: words });
  const { system: own = null } = value;
  const member = members.findLast(({ key }) => key === "system");
  if (!Array.isArray(own) || member === undefined) {
    const before = typeof own === "string" && own !== "" ? [block(own)] : [];
    return [["system", `[${[...before, block(system)].join(",")}]`]];
  }
  const written = parseElements(text, member.start).map(({ start, end }) => text.slice(start, end));
  return [["system", `[${[...written, block(system)].join(",")}]`]];
}

/**
 * Returns the refusal of a limit above that of a named model, with the sentence by which clients
 * lower it; null for others.
 */
export function refuseMaxTokens({ value }: JsonDocument, { named }: Target): Failed | null {
  const most = named?.preset.maxOutput ?? null;
  const { max_tokens: tokens } = value;
  if (most === null || typeof tokens !== "number" || tokens <= most) return null;
  return unsupported("max_tokens", SENTENCES.maxTokens(String(tokens), String(most)));
}
