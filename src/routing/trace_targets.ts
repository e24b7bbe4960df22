import type { Candidate } from "../call/inference.ts";
import type { Call } from "../call/call.ts";
import {
  type Eligible,
  type Evaluation,
  reasonText,
  resolveModel,
  type SkipReason,
} from "./eligible.ts";
import type { RequestedModel } from "./requested_model.ts";

/** A target of a route as the timeline of a call shows it. */
type TracedTarget = NonNullable<Call["report"]["trace"]>["targets"][number];

/** The router's decisions on the targets and fallbacks of a route. */
interface Decisions {
  readonly targets: readonly Evaluation<Candidate>[];
  readonly fallbacks: readonly Evaluation<Candidate>[];
  readonly requested: RequestedModel;
}

/** Target that was picked among those that can serve a call. */
interface Choice {
  /** Targets among which the strategy has picked. */
  readonly able: readonly Eligible<Candidate>[];
  readonly first: Eligible<Candidate>;
  /** True if a key of the candidate does not rest and has a circuit breaker that is not open. */
  isAble(candidate: Candidate): boolean;
}

/**
 * Returns the targets of a call in the order of its route, each with the reason for which it was
 * passed over. Without a choice no target can serve the call.
 */
export function traceTargets(
  { targets, fallbacks, requested }: Decisions,
  choice: Choice | null = null,
): readonly TracedTarget[] {
  function traced(one: Evaluation<Candidate>, isFallback: boolean): TracedTarget {
    const { target } = one;
    return {
      provider: target.provider.id,
      model: target.model ?? resolveModel(target, requested),
      isFallback,
      isChosen: one === choice?.first,
      skipped: one.kind === "skipped"
        ? skipText(one.reason)
        : isFallback || choice === null
        ? null
        : passedOver(one, choice),
    };
  }

  return [
    ...targets.map((one) => traced(one, false)),
    ...fallbacks.map((one) => traced(one, true)),
  ];
}

/**
 * Returns the reason for which a target was skipped, without a message: it may quote a value of the
 * request, which the page must not show.
 */
export function skipText(reason: SkipReason): string {
  if (reason.kind !== "refused") return reasonText(reason);
  const { kind, at } = reason.refusal;
  return at === null
    ? `it refuses the request: ${kind}`
    : `it refuses the request: ${kind} at ${at}`;
}

/**
 * Returns the reason for which a target that can serve a call was not among the picked ones; null
 * if it was.
 */
function passedOver(one: Eligible<Candidate>, { able, isAble }: Choice): string | null {
  if (able.includes(one)) return null;
  return isAble(one.prepared)
    ? "its slots are taken"
    : "its circuit breaker is open, or all its keys rest";
}
