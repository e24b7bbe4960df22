import type { Session } from "../core/session.ts";
import type { Call } from "../call/call.ts";
import type { Route, RouteTarget } from "../call/generation.ts";
import type { Candidate } from "../call/inference.ts";
import type { Plan } from "../call/plan.ts";
import { sessionKey } from "../call/session.ts";
import { pickRendezvous } from "../traffic/rendezvous.ts";
import type { Evaluation } from "./eligible.ts";
import type { TargetPlan } from "./plan_targets.ts";
import { keySharesText, shareText, targetText } from "./route_text.ts";
import { skipText } from "./trace_targets.ts";

/** By what a `sticky` route knows its clients. */
export interface StickyClient {
  readonly session: Session | null;
  readonly caller: string | null;
}

/**
 * Returns the target with which the session, else the client stays; null for another strategy, or
 * without both.
 */
export function findSticky(
  { strategy }: Route,
  able: readonly RouteTarget[],
  { session, caller }: StickyClient,
): RouteTarget | null {
  const key = sessionKey(caller, session) ?? caller;
  if (strategy !== "sticky" || key === null) return null;
  return pickRendezvous(key, (target) => target.key, able) ?? null;
}

/** Returns the plan of a call that is not sent, before a target is picked. */
export function newPlan(
  { client: { session }, caller }: Pick<Call, "client" | "caller">,
  { route, targets, fallbacks, eligible, ableFallbacks, refused, isRescued }: TargetPlan<Candidate>,
): Plan {
  const able = eligible.map(({ target }) => target);
  const sticky = findSticky(route, able, { session, caller: caller.name });
  return {
    route: route.name,
    targets: eligible.map(({ target, prepared }) => ({
      candidate: prepared,
      share: sticky === null
        ? shareText(target, able, route.strategy)
        : target === sticky
        ? "of the session"
        : "after it",
      keys: keySharesText(target, prepared.target.model),
    })),
    fallbacks: ableFallbacks.map(({ prepared }) => prepared),
    skipped: [...targets, ...fallbacks].flatMap(skippedTarget),
    refused: isRescued ? null : refused,
  };
}

function skippedTarget(one: Evaluation<Candidate>): Plan["skipped"] {
  return one.kind === "skipped"
    ? [{ target: targetText(one.target), reason: skipText(one.reason) }]
    : [];
}
