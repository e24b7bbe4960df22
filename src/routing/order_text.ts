import type { RouteTarget } from "../call/generation.ts";
import { DEFAULT_FALLBACK_REASONS } from "../core/failure/failure.ts";
import { mayHoldMore } from "./context_size.ts";
import { resolveModel } from "./eligible.ts";
import type { RequestedModel } from "./requested_model.ts";

/**
 * Returns the order in which a call is sent to the able targets and fallbacks of a route, and which
 * of them are skipped for a prompt that is too long for another one; no lines for a single
 * candidate.
 */
export function orderLines(
  targets: readonly RouteTarget[],
  fallbacks: readonly RouteTarget[],
  requested: RequestedModel,
): string[] {
  const all = [...targets, ...fallbacks];
  const [first] = all;
  if (first === undefined || all.length === 1) return [];
  const nameOf = (target: RouteTarget) =>
    `${target.provider.id}/${resolveModel(target, requested) ?? "?"}`;
  // A fallback may be a target again.
  const distinct = [...new Map(all.map((one) => [nameOf(one), one])).values()];
  const own = targets.length < 2 ? targets.map(nameOf) : [
    `the target that the strategy picks: ${targets.map(nameOf).join(" or ")}`,
    targets.length === 2 ? "the other target" : "the other targets, in the order of the strategy",
  ];
  const { fallbackOn } = first.failover;
  // Without `outage` a silent one is retried at once, like any that fails.
  const silent = "those that were silent, with the retries that they have left";
  const places = [
    ...own,
    ...fallbacks.map(nameOf),
    ...fallbackOn.includes("outage") ? [silent] : [],
  ];
  return [
    "  Candidates, in order, until one responds:",
    ...places.map((text, at) => `    ${`${at + 1}.`.padEnd(6)} ${text}`),
    ...fallbackOn.includes("context_length") ? distinct.flatMap(tooLongFor) : [],
    ...isUsual(fallbackOn) ? [] : [
      `  Only after these failures is another one tried: ${fallbackOn.join(", ") || "none"}.`,
    ],
  ];

  function tooLongFor(refusing: RouteTarget): string[] {
    const sized = (target: RouteTarget) => ({ ...target, model: resolveModel(target, requested) });
    const skipped = all.filter((one) =>
      one !== refusing && !mayHoldMore(sized(one), sized(refusing))
    );
    if (skipped.length === 0) return [];
    const names = new Set(skipped.map((one) => {
      const { contextSize } = one.failover;
      const isKnown = contextSize !== null && refusing.failover.contextSize !== null;
      return `${nameOf(one)} (${isKnown ? `it holds ${contextSize} tokens` : "the same model"})`;
    }));
    const list = [...names].join(", ");
    return [`  After a prompt that is too long for ${nameOf(refusing)}, skipped: ${list}`];
  }
}

function isUsual(reasons: readonly string[]): boolean {
  return reasons.length === DEFAULT_FALLBACK_REASONS.length &&
    DEFAULT_FALLBACK_REASONS.every((one) => reasons.includes(one));
}
