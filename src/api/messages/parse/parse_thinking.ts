import { isObject, type JsonObject, numberOf } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/failure/result.ts";
import type { FieldRef, Prompt } from "../../../prompt/prompt.ts";
import { type Optional, unsupported } from "../../../prompt/refusals.ts";
import type { Target } from "../../../wires/wire.ts";
import type { MessageLabels } from "../generate/encoder.ts";
import { notAmong, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import type { PlacedEffort } from "./parse_dialogue.ts";
import { type Effort, parseEffort } from "./parse_system.ts";
import { objectAt, unknownIn } from "./read.ts";

/** Thinking that the client requests. */
interface RequestedThinking {
  readonly type: "adaptive" | "enabled" | "disabled";
  /** Tokens for thinking; null unless the type is `enabled`. */
  readonly budget: number | null;
  readonly isShown: boolean;
}

/** Thinking and effort of a request for one target. */
export interface ParsedThinking extends Pick<Prompt, "effort" | "thinking"> {
  /** How the thinking of the upstream is sent to the client. */
  readonly shown: MessageLabels["thinking"];
  /** True if the client has requested thinking. */
  readonly isRequested: boolean;
  readonly lossy: readonly string[];
}

/** Largest budgets, in tokens, that stand for a low and for a medium effort. */
const MAX_LOW_TOKENS = 4_096, MAX_MEDIUM_TOKENS = 16_384;

const BASIC_EFFORTS: readonly Effort[] = ["low", "medium", "high"];

const EFFORT_AT: FieldRef = { field: "reasoning_effort", path: "output_config.effort" };

/** Parses thinking and effort (Messages API, extended thinking and effort). */
export function parseThinking(
  value: JsonObject,
  efforts: readonly PlacedEffort[],
  target: Target,
): Result<ParsedThinking> {
  const requested = parseRequested(value.thinking);
  if (!requested.ok) return requested;
  const config = isObject(value.output_config) ? value.output_config : {};
  const general = parseEffort(config.effort, EFFORT_AT.path);
  if (!general.ok) return general;
  if (general.value !== null && !takesEffort(target, general.value)) {
    return unsupported(EFFORT_AT.path);
  }
  // The last effort of the dialogue counts. One that the target does not take is dropped: a client
  // that was refused the general effort sends the other ones once more.
  const last = efforts.at(-1);
  const own = last !== undefined && takesEffort(target, last.effort) ? last.effort : null;
  const lossy = last === undefined || own !== null ? [] : [last.path];
  const isRequested = (requested.value?.type ?? "disabled") !== "disabled";
  return success({ ...decided(requested.value, own ?? general.value, lossy, target), isRequested });
}

function decided(
  requested: RequestedThinking | null,
  effort: Effort | null,
  dropped: readonly string[],
  target: Target,
): Omit<ParsedThinking, "isRequested"> {
  const isLocal = target.wire.name === "local";
  const { capabilities } = target.provider.settings;
  const shown = requested === null || requested.isShown ? "shown" : "sealed";
  switch (requested?.type) {
    case "disabled": {
      const isListed = capabilities.reasoning_effort &&
        capabilities.reasoning_effort_levels.includes("none");
      if (!isLocal && !isListed) {
        const lossy = [...dropped, "thinking.type"];
        return { effort: effortOf(effort), thinking: null, shown: "hidden", lossy };
      }
      return {
        effort: isLocal ? null : effortOf("none"),
        thinking: isLocal ? thinkingOf("disabled") : null,
        shown: "hidden",
        lossy: effort === null ? dropped : [...dropped, EFFORT_AT.path],
      };
    }
    case "enabled": {
      const level = effort ?? levelFor(requested.budget ?? 0);
      const isTaken = takesEffort(target, level);
      return {
        effort: effortOf(isTaken ? level : null),
        thinking: isLocal && !isTaken ? thinkingOf("enabled") : null,
        shown,
        lossy: [...dropped, "thinking.budget_tokens"],
      };
    }
    default:
      // "The model decides" is what these upstreams do when nothing is said.
      return { effort: effortOf(effort), thinking: null, shown, lossy: dropped };
  }
}

function effortOf(effort: Effort | "none" | null): Prompt["effort"] {
  return effort === null ? null : { value: effort, at: EFFORT_AT };
}

function thinkingOf(kind: "enabled" | "disabled"): Prompt["thinking"] {
  const at: FieldRef = { field: "thinking", path: "thinking", refusedPath: "thinking.type" };
  return { kind, at, value: { type: kind } };
}

function levelFor(budget: number): Effort {
  if (budget <= MAX_LOW_TOKENS) return "low";
  return budget <= MAX_MEDIUM_TOKENS ? "medium" : "high";
}

/** True if the provider declares that it takes this level of effort. */
function takesEffort({ wire, provider: { settings } }: Target, effort: Effort): boolean {
  const { reasoning_effort, reasoning_effort_levels: listed } = settings.capabilities;
  if (!reasoning_effort) return false;
  // The protocol of a local runtime has no such level.
  if (wire.name === "local" && effort === "xhigh") return false;
  return listed.length === 0 ? BASIC_EFFORTS.includes(effort) : listed.includes(effort);
}

const DISPLAYS = ["summarized", "omitted", "updates"] as const;

const TYPES = ["adaptive", "enabled", "disabled"] as const;

function parseRequested(given: Optional): Result<RequestedThinking | null> {
  if ((given ?? null) === null) return success(null);
  const thinking = objectAt(given, "thinking");
  if (!thinking.ok) return thinking;
  const { type: name, budget_tokens: budget = null, display = null } = thinking.value;
  if (name === "between_tools") {
    return unsupported("thinking.type", SENTENCES.thinkingType(name));
  }
  const type = TYPES.find((one) => one === name);
  if (type === undefined) return notAmong("thinking.type", TYPES);
  const unknown = unknownIn(thinking.value, `thinking[${type}]`, `thinking.${type}`);
  if (unknown !== null) return unknown;
  if (display !== null && !DISPLAYS.some((one) => one === display)) {
    return notAmong("thinking.display", DISPLAYS);
  }
  const tokens = numberOf(budget);
  if (type === "enabled" && (tokens === null || !Number.isInteger(tokens))) {
    return wrongType(budget, "thinking.budget_tokens", "a valid integer");
  }
  return success({
    type,
    budget: tokens,
    isShown: display === null || display === "summarized",
  });
}
