import type { HttpClient } from "./client.ts";
import type { ProxyRule } from "./proxy_rule.ts";
import { parseDestination } from "./request.ts";

/**
 * Limit of URLs whose client is cached: there are few, except for URLs with the IDs of stored
 * objects.
 */
const MAX_CACHED_ROUTES = 200;

/**
 * Returns a client that sends requests through the proxy where the rule demands it, and all other
 * requests directly.
 */
export function newProxiedClient(
  direct: HttpClient,
  proxied: HttpClient,
  isProxied: ProxyRule,
): HttpClient {
  const ways = new Map<string, HttpClient>();

  function wayTo(url: string): HttpClient {
    const known = ways.get(url);
    if (known !== undefined) return known;
    if (ways.size >= MAX_CACHED_ROUTES) ways.clear();
    const way = isProxied(parseDestination(url)) ? proxied : direct;
    ways.set(url, way);
    return way;
  }

  return {
    send: async (url, request) => await wayTo(url).send(url, request),
    close() {
      direct.close();
      proxied.close();
    },
  };
}
