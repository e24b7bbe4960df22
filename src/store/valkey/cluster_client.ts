import type { Cluster, ClusterNode, ClusterOptions } from "iovalkey";

/** A client of a cluster that can be told to ask no more for the slots. */
export interface ClusterClient extends Cluster {
  /** Begins no further request for the slots; resolves when none is under way. */
  endRefreshes(): Promise<void>;
}

/**
 * Returns a client of a cluster. The reply to a request for the slots begins the wait for the next
 * one, in the library also after the client has ended: it would ask for ever.
 */
export function newClusterClient(
  library: { readonly Cluster: typeof Cluster },
  node: ClusterNode,
  options: ClusterOptions,
): ClusterClient {
  return new class extends library.Cluster {
    readonly #underWay = new Set<Promise<void>>();
    #isEnding = false;

    override refreshSlotsCache(callback?: (error?: Error | null) => void): void {
      if (this.#isEnding) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#underWay.add(promise);
      super.refreshSlotsCache((error) => {
        this.#underWay.delete(promise);
        resolve();
        if (!this.#isEnding) callback?.(error);
      });
    }

    async endRefreshes(): Promise<void> {
      this.#isEnding = true;
      await Promise.all(this.#underWay);
    }
  }([node], options);
}
