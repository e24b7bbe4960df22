import type { Config } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { newKeySets } from "../access/tokens/key_sets.ts";
import { newKeyRefresh } from "../gateway/key_refresh.ts";
import type { Log } from "../observe/log.ts";
import type { KeysMessage } from "../workers/key_messages.ts";

/** What the keys of issuers need in the parent of workers. */
interface Deps {
  readonly world: Pick<World, "after" | "now" | "random" | "send">;
  readonly log: Log;
  counted(issuer: string, result: "success" | "failure"): void;
  /** Sends a message to all workers. */
  send(message: KeysMessage): void;
}

/** Returns the keys of issuers in the parent of workers: it refreshes them once for all. */
export function newParentKeys({ world, log, counted, send }: Deps) {
  const sets = newKeySets();
  const sources = new Set<string>();
  const refresh = newKeyRefresh({
    world,
    log,
    counted,
    receiver: {
      begin(source) {
        sources.add(source);
        sets.begin(source);
        send({ kind: "keys_begin", source });
      },
      end(source, keys) {
        sets.end(source, keys, world.now());
        send({ kind: "keys", source, keys, ageMs: 0 });
      },
    },
  });
  sets.onDemand(refresh.demand);

  function current(source: string): KeysMessage {
    const keys = sets.current(source, world.now())?.keys ?? null;
    const ageMs = sets.state(source, world.now())?.ageMs ?? 0;
    return { kind: "keys", source, keys, ageMs };
  }

  return {
    /** Returns the keys for a worker that starts. */
    all: (): readonly KeysMessage[] => [...sources].map(current),
    /** Refreshes a source for a worker; one that was just refreshed is sent as it is. */
    demand(source: string): void {
      sets.demand(source, world.now());
      if (!sets.isRefreshing(source)) send(current(source));
    },
    apply: (config: Pick<Config, "security">): Promise<void> => refresh.apply(config),
    close: refresh.close,
  };
}
