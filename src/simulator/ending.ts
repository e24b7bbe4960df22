/**
 * Returns a handler that can end its requests. Newer runtimes do not report that the client of a
 * hanging request has left, and its server would never close.
 */
export function newEndingHandler(
  respond: (request: Request) => Promise<Response> | Response,
) {
  // Not a race with one promise of the end: it would store something of every request.
  const pending = new Set<() => void>();
  return {
    async handle(request: Request): Promise<Response> {
      const { promise, resolve } = Promise.withResolvers<Response>();
      const end = () => resolve(new Response(null, { status: 503 }));
      pending.add(end);
      try {
        return await Promise.race([respond(request), promise]);
      } finally {
        pending.delete(end);
      }
    },
    /** Responds with 503 to every request that has no response yet. */
    end(): void {
      for (const end of pending) end();
    },
  };
}
