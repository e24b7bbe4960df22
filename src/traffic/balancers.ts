import { setLatest } from "../core/set_latest.ts";
import { orderRendezvous, pickRendezvous } from "./rendezvous.ts";
import type { TargetLoads } from "./target_loads.ts";

/** Strategy by which a route distributes its calls over its targets. */
export type Strategy =
  | "weighted"
  | "round-robin"
  | "random"
  | "least-pending"
  | "lowest-latency"
  | "sticky";

/** True for a strategy that uses the loads of targets. */
export function usesLoads(strategy: Strategy): boolean {
  return strategy === "least-pending" || strategy === "lowest-latency";
}

/** Facts of a call and its targets for a strategy. */
export interface PickView<T> {
  /**
   * Returns the key of a target, unique in its route: also two targets of one provider and model
   * differ.
   */
  key(target: T): string;
  /** Returns the key of a target's load. */
  load(target: T): string;
  /** Session or client of the call, for `sticky`. */
  readonly session: string | null;
}

/** Load balancing of each route over its targets. */
export interface Balancers {
  /**
   * Returns the target of the next call of a route, out of the eligible targets; undefined if all
   * have weight 0, which is never picked.
   *
   * weighted: smooth weighted round-robin, whose shares are exact in every run of as many calls as
   * the sum of the weights. round-robin: the same with equal weights. random: weights are
   * probabilities. least-pending: the fewest running calls per weight; equal targets take turns as
   * in weighted. lowest-latency: a target without a recorded time, else the lowest median; a part
   * of the calls explores the rest, with the weights as probabilities. sticky: rendezvous hashing
   * of the session; weighted without one.
   */
  pick<T extends { readonly weight: number }>(
    route: string,
    strategy: Strategy,
    view: PickView<T>,
    eligible: readonly T[],
  ): T | undefined;
  /**
   * Returns targets in the order in which the strategy would pick them if each was gone after it,
   * for a call whose target has failed. The shares of the calls do not change. random: the one with
   * the largest weight first.
   */
  order<T extends { readonly weight: number }>(
    route: string,
    strategy: Strategy,
    view: PickView<T>,
    eligible: readonly T[],
  ): readonly T[];
}

/** Share of the calls that lowest-latency sends to another target than the fastest one. */
export const EXPLORED_RATIO = 0.05;

/** Maximum number of routes with state; the oldest route is removed first. */
const MAX_ROUTES = 10_000;

/**
 * Number of calls of its route that a target may miss before the credits of the route are reset.
 */
const MAX_MISSED_CALLS = 1_000;

/** Credit of a target: grows by its weight with each call for which it is eligible. */
interface Share {
  readonly weight: number;
  owed: number;
  /** Number of the last call of the route for which the target was eligible. */
  seen: number;
}

interface Balance {
  calls: number;
  readonly shares: Map<string, Share>;
}

/** Returns balancers without credits. `random` is uniform in [0, 1). */
export function newBalancers(
  random: () => number,
  loads: Pick<TargetLoads, "pending" | "medianMs">,
): Balancers {
  const balances = new Map<string, Balance>();

  function findOrAddBalance(route: string): Balance {
    const known = balances.get(route);
    if (known !== undefined) return known;
    const balance = { calls: 0, shares: new Map() };
    setLatest(balances, route, balance, MAX_ROUTES);
    return balance;
  }

  return {
    pick(route, strategy, { key, load, session }, eligible) {
      const live = eligible.filter((item) => item.weight > 0);
      const inTurn = (items: readonly (typeof live)[number][]) =>
        pickMostOwed(findOrAddBalance(route), key, (item) => item.weight, items);
      switch (strategy) {
        case "random":
          return pickRandom(live, random);
        case "weighted":
          return inTurn(live);
        case "round-robin":
          return pickMostOwed(findOrAddBalance(route), key, () => 1, live);
        case "least-pending":
          return inTurn(leastOf(live, (item) => loads.pending(load(item)) / item.weight));
        case "lowest-latency": {
          const fastest = inTurn(leastOf(live, (item) => loads.medianMs(load(item)) ?? -1));
          const rest = live.filter((item) => item !== fastest);
          return rest.length > 0 && random() < EXPLORED_RATIO ? pickRandom(rest, random) : fastest;
        }
        case "sticky":
          return session === null ? inTurn(live) : pickRendezvous(session, key, live);
      }
    },
    order(route, strategy, { key, load, session }, eligible) {
      const live = eligible.filter((item) => item.weight > 0);
      const shares = balances.get(route)?.shares;
      const owed = (item: (typeof live)[number]) => shares?.get(key(item))?.owed ?? 0;
      const inTurn = live.toSorted((one, other) => owed(other) - owed(one));
      switch (strategy) {
        case "weighted":
        case "round-robin":
          return inTurn;
        case "random":
          return byMeasure(live, ({ weight }) => -weight);
        case "least-pending":
          return byMeasure(inTurn, (item) => loads.pending(load(item)) / item.weight);
        case "lowest-latency":
          return byMeasure(inTurn, (item) => loads.medianMs(load(item)) ?? -1);
        case "sticky":
          return session === null ? inTurn : orderRendezvous(session, key, live);
      }
    },
  };
}

function byMeasure<T>(items: readonly T[], measure: (item: T) => number): readonly T[] {
  return items.toSorted((one, other) => measure(one) - measure(other));
}

/** Returns the items with the least measure: several if they are equal. */
function leastOf<T>(items: readonly T[], measure: (item: T) => number): readonly T[] {
  const least = Math.min(...items.map(measure));
  return items.filter((item) => measure(item) === least);
}

function pickRandom<T extends { readonly weight: number }>(
  items: readonly T[],
  random: () => number,
): T | undefined {
  let left = random() * items.reduce((sum, item) => sum + item.weight, 0);
  for (const item of items) {
    left -= item.weight;
    if (left < 0) return item;
  }
  return items.at(-1);
}

/**
 * Returns the next item by smooth weighted round-robin: each credit grows by its weight, and the
 * item with the largest credit (the first of equals) is picked and pays the sum of the weights. The
 * credit of a target that is not eligible does not change.
 */
function pickMostOwed<T>(
  balance: Balance,
  key: (item: T) => string,
  weightOf: (item: T) => number,
  items: readonly T[],
): T | undefined {
  const hasOtherWeights = items.some((item) => {
    const weight = balance.shares.get(key(item))?.weight;
    return weight !== undefined && weight !== weightOf(item);
  });
  // Credits under other weights would distort the shares until they are used up.
  if (hasOtherWeights) balance.shares.clear();
  balance.calls++;
  let total = 0;
  let best: { readonly item: T; readonly share: Share } | undefined;
  for (const item of items) {
    const share = findOrAddShare(balance.shares, key(item), weightOf(item));
    share.seen = balance.calls;
    share.owed += share.weight;
    total += share.weight;
    if (best === undefined || share.owed > best.share.owed) best = { item, share };
  }
  if (best !== undefined) best.share.owed -= total;
  forgetVanished(balance);
  return best?.item;
}

function findOrAddShare(shares: Map<string, Share>, key: string, weight: number): Share {
  const known = shares.get(key);
  if (known !== undefined) return known;
  const share = { weight, owed: 0, seen: 0 };
  shares.set(key, share);
  return share;
}

function forgetVanished({ calls, shares }: Balance): void {
  if (calls % MAX_MISSED_CALLS !== 0) return;
  const hasVanished = shares.values().some(({ seen }) => calls - seen >= MAX_MISSED_CALLS);
  // The remaining credits may be balanced by credits of the targets that are gone.
  if (hasVanished) shares.clear();
}
