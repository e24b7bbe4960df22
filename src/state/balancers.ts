/** How the targets of a route share its calls. */
export type Strategy = "weighted" | "round-robin" | "random";

/** Spreads the calls of each route over its targets. */
export interface Balancers {
  /**
   * The target for the next call of a route, out of those that can take it; undefined when all have
   * weight 0, which is never picked. `key` tells the targets of a route apart, also two of the same
   * provider and model.
   *
   * weighted: smooth weighted round-robin, in which every run of as many calls as the weights add up
   * to has exact shares. round-robin: the same without weights. random: weights as chances.
   */
  pick<T extends { readonly weight: number }>(
    route: string,
    strategy: Strategy,
    key: (item: T) => string,
    eligible: readonly T[],
  ): T | undefined;
}

/** More routes than that are not remembered; the oldest go first. */
const MAX_ROUTES = 10_000;

/** When a target was not eligible for so many calls of its route, all claims are settled. */
const MAX_MISSED_CALLS = 1_000;

/** What a target is owed: grows by its weight with each call it could have had. */
interface Share {
  readonly weight: number;
  owed: number;
  /** The last call of the route that it could have had. */
  seen: number;
}

interface Balance {
  calls: number;
  readonly shares: Map<string, Share>;
}

/** Balancers that owe nobody anything. `random` is uniform in [0, 1). */
export function newBalancers(random: () => number): Balancers {
  const balances = new Map<string, Balance>();

  function balanceOf(route: string): Balance {
    const known = balances.get(route);
    if (known !== undefined) return known;
    const [oldest] = balances.size >= MAX_ROUTES ? balances.keys() : [];
    if (oldest !== undefined) balances.delete(oldest);
    const balance = { calls: 0, shares: new Map() };
    balances.set(route, balance);
    return balance;
  }

  return {
    pick(route, strategy, key, eligible) {
      const live = eligible.filter((item) => item.weight > 0);
      switch (strategy) {
        case "random":
          return pickRandom(live, random);
        case "weighted":
          return pickMostOwed(balanceOf(route), key, (item) => item.weight, live);
        case "round-robin":
          return pickMostOwed(balanceOf(route), key, () => 1, live);
      }
    },
  };
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
 * Smooth weighted round-robin: each target is owed its weight more, the one that is owed most (the
 * first of equals) is picked and pays for all. Who is not eligible keeps its claim meanwhile.
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
  // Claims under other weights would distort the shares until they are worked off.
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
  // What the others are owed may be owed by those that are gone.
  if (hasVanished) shares.clear();
}
