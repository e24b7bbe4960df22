import type { Generation } from "../call/generation.ts";
import { VERSION } from "../core/build.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { firstKnownModel } from "../routing/first_model.ts";
import { runningViews } from "./call_views.ts";
import type { Feed } from "./feed.ts";
import type { KeyFigures } from "./key_views.ts";
import { keyViews } from "./key_views.ts";
import type { NoteBook, Notes } from "./notes.ts";
import { providerViews } from "./provider_views.ts";
import { routeViews } from "./route_views.ts";
import type { Snapshot, StoreView } from "./snapshot.ts";

/** What a reader of snapshots has already received. */
export interface Cursor {
  /** First second that it has not received. */
  readonly second: number;
  /** Number of the last finished call that it has received. */
  readonly finished: number;
}

/** Cursor of a reader that has received nothing. */
export const NOTHING_READ: Cursor = { second: 0, finished: 0 };

/** What snapshots are made of. */
export interface SnapshotSource {
  readonly gateway: Gateway;
  readonly feed: Feed;
  readonly notes: Notes & Pick<NoteBook, "onChange">;
  /** Returns the address that the gateway listens on. */
  gatewayUrl(): string;
}

/** Returns the snapshot for a reader. */
export function takeSnapshot(
  { gateway, feed, notes, gatewayUrl }: SnapshotSource,
  figures: KeyFigures,
  cursor: Cursor,
): Snapshot {
  const { generation, state, world } = gateway;
  const { header: name, prefix } = generation.config.security.api_key;
  return {
    version: VERSION,
    atMs: world.wall(),
    uptimeMs: Math.round(world.now() - state.began),
    generation: generation.number,
    isDraining: state.inFlight.isDraining,
    gatewayUrl: gatewayUrl(),
    requiresKey: generation.clientKeys.length > 0,
    keyHeader: { name, prefix },
    exampleModel: exampleModel(generation),
    refusedReload: notes.refusedReload,
    warnings: notes.warnings,
    store: storeView(gateway),
    seconds: feed.secondsFrom(cursor.second),
    providers: providerViews(gateway, feed),
    routes: routeViews(generation, feed),
    runningCount: feed.runningCount,
    running: runningViews(feed.running(), feed.runningCount, world.now()),
    finishedCount: feed.finishedCount,
    ...feed.finishedSince(cursor.finished),
    keys: keyViews(gateway, feed, figures),
  };
}

/** Example models of generations: all routes are searched, and a generation never changes. */
const exampleModels = new WeakMap<Generation, string | null>();

function exampleModel(generation: Generation): string | null {
  const known = exampleModels.get(generation);
  if (known !== undefined) return known;
  const found = firstKnownModel(generation);
  exampleModels.set(generation, found);
  return found;
}

/** Returns the cursor of a reader that has received this snapshot. */
export function cursorAfter({ atMs, finishedCount }: Snapshot): Cursor {
  return { second: Math.floor(atMs / 1000), finished: finishedCount };
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
