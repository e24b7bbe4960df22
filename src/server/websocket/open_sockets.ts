/** Counts the open WebSockets of each client. */
export type OpenSockets = ReturnType<typeof newOpenSockets>;

/** Returns the count without sockets. */
export function newOpenSockets(maxPerClient: number) {
  const counts = new Map<string, number>();
  const countOf = (client: string) => counts.get(client) ?? 0;
  const isFull = (client: string) => countOf(client) >= maxPerClient;
  return {
    /** True if the client may open no more. */
    isFull,
    /**
     * Counts a socket that has opened. Returns its end; null, and counts nothing, if the client has
     * too many.
     */
    add(client: string): (() => void) | null {
      if (isFull(client)) return null;
      counts.set(client, countOf(client) + 1);
      return () => {
        const left = countOf(client) - 1;
        if (left > 0) counts.set(client, left);
        else counts.delete(client);
      };
    },
  };
}
