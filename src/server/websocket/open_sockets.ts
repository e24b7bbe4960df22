/** Counts the open WebSockets of each client. */
export interface OpenSockets {
  /** True if the client may open no more. */
  isFull(client: string): boolean;
  /**
   * Counts a socket that has opened. Returns its end; null, and counts nothing, if the client has
   * too many.
   */
  add(client: string): (() => void) | null;
}

/** Returns the count without sockets. */
export function newOpenSockets(maxPerClient: number): OpenSockets {
  const counts = new Map<string, number>();
  const countOf = (client: string) => counts.get(client) ?? 0;
  const isFull = (client: string) => countOf(client) >= maxPerClient;
  return {
    isFull,
    add(client) {
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
