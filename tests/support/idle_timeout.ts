import { assert } from "./assert.ts";

/**
 * Replaces the idle timeout of the runtime by this number of seconds; the runtime pings at half of
 * it, and with 0 neither pings nor closes. Records the idle timeouts that the gateway has set.
 */
export function withIdleTimeout(seconds: number) {
  const upgrade = Deno.upgradeWebSocket;
  const wanted: unknown[] = [];
  const impatient: typeof upgrade = (request, options) => {
    wanted.push(options?.idleTimeout);
    return upgrade(request, { ...options, idleTimeout: seconds });
  };
  assert(Reflect.set(Deno, "upgradeWebSocket", impatient));
  return {
    wanted,
    [Symbol.dispose]: () => void Reflect.set(Deno, "upgradeWebSocket", upgrade),
  };
}
