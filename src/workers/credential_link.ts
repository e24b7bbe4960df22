import type { CredentialHolder, CredentialUpdate } from "../core/credential.ts";

/**
 * Returns the link of the credentials of a worker to its parent, which refreshes them for all
 * workers; `demand` requests one.
 */
export function newCredentialLink(demand: (id: string) => void) {
  const renewing = new Map<string, PromiseWithResolvers<void>>();

  return {
    /** Lets the parent refresh these credentials when a provider refuses one. */
    follow(holders: Iterable<CredentialHolder>): void {
      for (const holder of holders) {
        const { id } = holder;
        holder.refreshWith(() => {
          const known = renewing.get(id);
          if (known !== undefined) return known.promise;
          const renewed = Promise.withResolvers<void>();
          renewing.set(id, renewed);
          demand(id);
          return renewed.promise;
        });
      }
    },
    /** Receives the update of a credential; one that is not configured any more is dropped. */
    received(
      holder: CredentialHolder | undefined,
      id: string,
      update: CredentialUpdate,
    ): void {
      holder?.update(update);
      renewing.get(id)?.resolve();
      renewing.delete(id);
    },
  };
}
