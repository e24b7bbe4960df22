import { requiresKey } from "../access/presented_key.ts";
import type { Generation, Route, RouteTarget } from "../call/generation.ts";
import { VERSION } from "../core/build.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { firstKnownModel } from "../routing/first_model.ts";
import { runningViews } from "./call_views.ts";
import type { Feed } from "./feed.ts";
import { type KeyFigures, keyViews } from "./key_views.ts";
import type { NoteBook, Notes } from "./notes.ts";
import type { Recorder } from "../record/recorder.ts";
import type {
  PrivacyView,
  ProviderView,
  RecordsView,
  RouteView,
  Snapshot,
  StoreView,
  TargetView,
} from "./snapshot.ts";
import { breakerState, findRest } from "../routing/accounts.ts";
import { hasPool, servingAccounts } from "../routing/key_pool.ts";
import { matchText, targetShare, writtenRoutes } from "../routing/route_text.ts";
import { FALLBACK_PREFIX, NO_CALLS } from "./route_window.ts";

/** States of the credentials of a provider, of which the first that one has is shown. */
const WORST_FIRST = ["gone", "late", "fresh"] as const;

/** Position of a reader in the snapshots that it has received. */
export interface Cursor {
  /** First second that it has not received. */
  readonly second: number;
  /** Number of the last finished call that it has received. */
  readonly finished: number;
}

/** Cursor of a reader that has received nothing. */
export const NOTHING_READ: Cursor = { second: 0, finished: 0 };

/** Sources of a snapshot. */
export interface SnapshotSource {
  readonly gateway: Gateway;
  readonly feed: Feed;
  readonly notes: Notes & Pick<NoteBook, "onChange">;
  /** Returns the address that the gateway listens on. */
  gatewayUrl(): string;
  /** Null or absent if no calls are recorded. */
  readonly recorder?: Pick<Recorder, "scan" | "sizes"> | null;
}

/** Returns a function that returns the snapshot for a reader. */
export function newSnapshots(
  { gateway, feed, notes, gatewayUrl, recorder = null }: SnapshotSource,
  figures: { readonly latest: KeyFigures },
): (cursor?: Cursor) => Snapshot {
  // All routes are searched for the example, and a generation never changes.
  let example: { readonly of: Generation; readonly model: string | null } | null = null;

  return (cursor = NOTHING_READ) => {
    const { generation, state, world } = gateway;
    const { header: name, prefix } = generation.config.security.api_key;
    if (example?.of !== generation) {
      example = { of: generation, model: firstKnownModel(generation) };
    }
    return {
      version: VERSION,
      atMs: world.wall(),
      uptimeMs: Math.round(world.now() - state.began),
      generation: generation.number,
      isDraining: state.inFlight.isDraining,
      gatewayUrl: gatewayUrl(),
      requiresKey: requiresKey(generation),
      keyHeader: { name, prefix },
      exampleModel: example.model,
      refusedReload: notes.refusedReload,
      warnings: notes.warnings,
      store: storeView(gateway),
      records: recordsView(gateway, recorder),
      seconds: feed.secondsFrom(cursor.second),
      providers: providerViews(gateway, feed),
      routes: routeViews(generation, feed),
      runningCount: feed.runningCount,
      running: runningViews(feed.running(), feed.runningCount, world.now()),
      finishedCount: feed.finishedCount,
      ...feed.finishedSince(cursor.finished),
      keys: keyViews(gateway, feed, figures.latest),
      privacy: privacyView(generation, feed),
    };
  };
}

/** Returns the cursor of a reader that has received this snapshot. */
export function cursorAfter({ atMs, finishedCount }: Snapshot): Cursor {
  return { second: Math.floor(atMs / 1000), finished: finishedCount };
}

function recordsView(
  { generation }: Gateway,
  recorder: Pick<Recorder, "sizes"> | null,
): RecordsView | null {
  if (recorder === null) return null;
  const { isOn, bytes, oldestMs, dropped } = recorder.sizes();
  const isShown = generation.config.admin.password !== undefined;
  return { isOn, isShown, bytes, oldestMs: Math.round(oldestMs), dropped };
}

/** Returns the policies and rules in the order of the file; null if there are no policies. */
function privacyView(
  { config: { privacy } }: Generation,
  feed: Pick<Feed, "privacy">,
): PrivacyView | null {
  if (privacy.policies.length === 0) return null;
  const { matches, ...totals } = feed.privacy();
  return {
    policies: privacy.policies.map(({ name, rules, unread }) => ({
      name,
      rules,
      isDefault: name === privacy.default,
      refusesUnread: unread === "refuse",
    })),
    rules: privacy.rules.map(({ name, phase, action }) => ({
      name,
      phase,
      action,
      matches: matches.get(name) ?? 0,
    })),
    ...totals,
  };
}

function storeView({ generation, state, world }: Gateway): StoreView {
  const { availability, objects } = state;
  const awayForMs = availability?.awayForMs() ?? null;
  return {
    engine: generation.config.state.store,
    isUp: availability?.isUp() ?? true,
    awaySinceMs: awayForMs === null ? null : Math.round(world.wall() - awayForMs),
    pingMs: availability?.pingMs() ?? null,
    pendingWrites: availability?.pendingWrites() ?? 0,
    objects: Object.entries(objects.stats()).map(([name, size]) => ({ name, ...size })),
  };
}

/** Returns the providers in the order of the file. */
function providerViews(
  { generation, state, world }: Pick<Gateway, "generation" | "state" | "world">,
  feed: Pick<Feed, "provider">,
): readonly ProviderView[] {
  const { circuit_breaker } = generation.config;
  return [...generation.providers.values()].map((provider): ProviderView => {
    const { id, settings, accounts } = provider;
    const breaker = circuit_breaker.enabled ? breakerState({ state }, provider) : "closed";
    const wait = ({ digest }: { readonly digest: string }) =>
      state.breakers.longestOpenFor(digest, circuit_breaker);
    const waits = servingAccounts(provider, "").map(wait);
    const isOpen = ({ digest }: { readonly digest: string }) =>
      circuit_breaker.enabled && state.breakers.state(digest) === "open";
    const max = settings.max_concurrent ?? null;
    const slots = max === null ? null : state.slots.counts(provider);
    const held = accounts.flatMap(({ credential }) =>
      credential === null ? [] : credential.holder.state(world.wall())
    );
    const worst = WORST_FIRST.find((one) => held.includes(one));
    return {
      id,
      type: settings.type,
      breaker,
      opensInMs: breaker === "open" ? Math.round(Math.min(...waits)) : null,
      ...feed.provider(id),
      running: slots?.running ?? null,
      queued: slots?.queued ?? null,
      maxConcurrent: max,
      keys: !hasPool(provider) ? [] : accounts.map((account) => {
        const rest = findRest({ state }, provider, account);
        return {
          name: account.name,
          isUsed: account.weight > 0,
          restsForMs: rest === null ? null : Math.round(rest.leftMs),
          opensInMs: isOpen(account) ? Math.round(wait(account)) : null,
        };
      }),
      ...worst !== undefined && { credential: worst },
    };
  });
}

/** Returns the routes in the order of the file. */
function routeViews(
  generation: Generation,
  feed: Pick<Feed, "route" | "firstContent">,
): readonly RouteView[] {
  return writtenRoutes(generation).map(({ route, match }): RouteView => {
    const counts = feed.route(route.name);
    const allServed = counts.values().reduce((sum, { served }) => sum + served, 0);
    const early = counts.values().reduce((sum, one) => sum + one.early, 0);
    const allFailed = counts.values().reduce((sum, { failed }) => sum + failed, 0);
    const view = (target: RouteTarget, key: string, share: number | null): TargetView => {
      const { served, failed, input, cached } = counts.get(key) ?? NO_CALLS;
      return {
        provider: target.provider.id,
        model: target.model,
        share,
        calls: served + failed,
        failed,
        servedShare: allServed === 0 ? null : served / allServed,
        cachedShare: input === 0 ? null : cached / input,
        firstContent: feed.firstContent(route.name, key),
      };
    };
    return {
      name: route.name,
      match: matchText(match),
      strategy: route.strategy,
      calls: allServed + allFailed,
      failed: allFailed,
      ...early > 0 && { early },
      targets: route.targets.map((target) => view(target, target.key, shareOf(target, route))),
      fallbacks: route.fallback.map((target) => view(target, FALLBACK_PREFIX + target.key, null)),
    };
  });
}

/** Returns the share of a target among all that are not drained; null if it depends on times. */
function shareOf(target: RouteTarget, { targets, strategy }: Route): number | null {
  const open = targets.filter(({ weight }) => weight > 0);
  return target.weight === 0 ? 0 : targetShare(target, open, strategy);
}
