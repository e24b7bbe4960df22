import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { isRefusal } from "../core/failure/failure.ts";
import { messageOf } from "../core/failure/openai_error.ts";
import type { Preset } from "../prompt/preset.ts";
import { targetText } from "../routing/route_text.ts";
import { refuseParameters } from "../wires/preset_refusal.ts";
import { CODEX_MODEL } from "./agents.ts";

/**
 * Returns a warning for each target of a named model that cannot carry one of its parameters, and a
 * problem for each named model without a target that can.
 */
export function presetLines({ routes }: Generation) {
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const { preset, targets, fallback } of routes) {
    if (preset === undefined) continue;
    const all = [...targets, ...fallback];
    const refused = all.flatMap((target) => {
      const refusal = refusedParameter(target, preset);
      return refusal === null
        ? []
        : [`models.${preset.name}: ${targetText(target)} is skipped: ${refusal}`];
    });
    (refused.length === all.length ? problems : warnings).push(...refused);
  }
  return { problems, warnings };
}

/** Returns the refusal of a parameter that a target cannot carry; null if it carries all. */
function refusedParameter(target: RouteTarget, preset: Preset): string | null {
  const { provider, wire, model } = target;
  const [account] = provider.accounts;
  const named = { preset, name: preset.name };
  const asked = { provider, account, wire, model: model ?? "", named };
  const refused = refuseParameters(preset.parameters, asked);
  return refused === null || !isRefusal(refused.failure) ? null : messageOf(refused.failure);
}

/**
 * Returns lines with what a named model adds to requests, and what its name changes for Codex; none
 * for a route.
 */
export function presetText({ preset }: Route): string[] {
  if (preset === undefined) return [];
  const { name, parameters, maxOutput, system, showsName } = preset;
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  const words = [
    ...set.length === 0 ? [] : [`where the request has none: ${set.join(", ")}`],
    ...maxOutput === null ? [] : [`at most ${maxOutput} tokens`],
    ...system === null ? [] : ["instructions"],
    ...showsName ? ["responses name the requested model"] : [],
  ];
  return [
    ...words.length === 0 ? [] : [`  ${words.join("; ")}`],
    ...CODEX_MODEL.test(name)
      ? ["  for Codex, which sends its own tools and code mode for a name that it knows"]
      : [],
  ];
}
