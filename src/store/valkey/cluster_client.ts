import type { Cluster, ClusterNode, ClusterOptions } from "iovalkey";

/** A client of a cluster whose requests for the slots can be ended. */
export interface ClusterClient extends Cluster {
  /** Begins no further request for the slots; resolves when none is under way. */
  endRefreshes(): Promise<void>;
}

/**
 * Returns a client of a cluster. In the library the reply to a request for the slots begins the
 * wait for the next one, also after the client has ended, without an end.
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
