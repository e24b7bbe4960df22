import { isObject, type JsonObject, numberOf } from "../../../core/json/json.ts";
import { type Result, success } from "../../../core/result.ts";
import { type Optional, unsupported } from "../../../prompt/refusals.ts";
import type { Target } from "../../../wires/wire.ts";
import type { MessageLabels } from "../generate/encoder.ts";
import { notAmong, unknownMember, wrongType } from "../refusals.ts";
import { SENTENCES } from "../sentences.ts";
import { type ChatField, newField } from "./chat_text.ts";
import { MESSAGES_FIELDS } from "./fields.ts";
import { type Effort, parseEffort } from "./system.ts";
import type { PlacedEffort } from "./turns.ts";

/** What the client asks for thinking. */
interface RequestedThinking {
  readonly type: "adaptive" | "enabled" | "disabled";
  /** Tokens for thinking; null unless the type is `enabled`. */
  readonly budget: number | null;
  readonly isShown: boolean;
}

/** Thinking and effort of a request for one target. */
export interface Thinking {
  readonly fields: readonly ChatField[];
  /** True if a local runtime must think without a level of effort. */
  readonly thinks: boolean;
  /** How the thinking of the upstream is sent to the client. */
  readonly shown: MessageLabels["thinking"];
  readonly lossy: readonly string[];
}

/** Largest budgets, in tokens, that stand for a low and for a medium effort. */
const MAX_LOW_TOKENS = 4_096, MAX_MEDIUM_TOKENS = 16_384;

const BASIC_EFFORTS: readonly Effort[] = ["low", "medium", "high"];

/** Returns the fields for thinking and effort (Messages API, extended thinking and effort). */
export function thinkingOf(
  value: JsonObject,
  efforts: readonly PlacedEffort[],
  target: Target,
): Result<Thinking> {
  const requested = parseThinkingField(value.thinking);
  if (!requested.ok) return requested;
  const config = isObject(value.output_config) ? value.output_config : {};
  const path = "output_config.effort";
  const general = parseEffort(config.effort, path);
  if (!general.ok) return general;
  if (general.value !== null && !takesEffort(target, general.value)) {
    return unsupported(path);
  }
  // The last effort of the dialogue counts. One that the target does not take is dropped: a client
  // that was refused the general effort sends the other ones once more.
  const last = efforts.at(-1);
  const own = last !== undefined && takesEffort(target, last.effort) ? last.effort : null;
  const lossy = last === undefined || own !== null ? [] : [last.at];
  const effort = own ?? general.value;
  return success(decided(requested.value, effort, lossy, target));
}

function decided(
  requested: RequestedThinking | null,
  effort: Effort | null,
  dropped: readonly string[],
  target: Target,
): Thinking {
  const { wire, provider: { settings: { capabilities } } } = target;
  const shown = requested === null || requested.isShown ? "shown" : "sealed";
  switch (requested?.type) {
    case "disabled": {
      const ignored = effort === null ? dropped : [...dropped, "output_config.effort"];
      if (wire.name === "local") {
        const fields = [newField("thinking", { type: "disabled" })];
        return { fields, thinks: false, shown: "hidden", lossy: ignored };
      }
      const isListed = capabilities.reasoning_effort &&
        capabilities.reasoning_effort_levels.includes("none");
      if (isListed) {
        const fields = [newField("reasoning_effort", "none")];
        return { fields, thinks: false, shown: "hidden", lossy: ignored };
      }
      const lossy = [...dropped, "thinking.type"];
      return { fields: effortFields(effort), thinks: false, shown: "hidden", lossy };
    }
    case "enabled": {
      const level = effort ?? effortOf(requested.budget ?? 0);
      const fields = takesEffort(target, level) ? effortFields(level) : [];
      const thinks = wire.name === "local" && fields.length === 0;
      return { fields, thinks, shown, lossy: [...dropped, "thinking.budget_tokens"] };
    }
    default:
      // "The model decides" is what these upstreams do when nothing is said.
      return { fields: effortFields(effort), thinks: false, shown, lossy: dropped };
  }
}

function effortFields(effort: Effort | null): readonly ChatField[] {
  return effort === null ? [] : [newField("reasoning_effort", effort)];
}

function effortOf(budget: number): Effort {
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

function parseThinkingField(given: Optional): Result<RequestedThinking | null> {
  if ((given ?? null) === null) return success(null);
  if (!isObject(given)) return wrongType(given, "thinking", "a valid dictionary");
  const { budget_tokens: budget = null, display = null } = given;
  const type = (["adaptive", "enabled", "disabled"] as const).find((one) => one === given.type);
  if (given.type === "between_tools") {
    return unsupported("thinking.type", SENTENCES.thinkingType("between_tools"));
  }
  if (type === undefined) return notAmong("thinking.type", ["adaptive", "enabled", "disabled"]);
  const known = MESSAGES_FIELDS.members(`thinking[${type}]`);
  const unknown = unknownMember(given, known, `thinking.${type}`);
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
