import { type Problem, problem } from "./problems.ts";
import { placedBodies } from "./placed_bodies.ts";
import type { Config, RouteBody } from "./schema.ts";

/** Time after which Claude Code gives up on a stream of pings alone. */
const MAX_WAIT_MS = 600_000;

/**
 * Returns a warning for each route and named model whose early head cannot do what it is there for.
 */
export function earlyHeadWarnings(config: Config): Problem[] {
  return placedBodies(config).flatMap(({ path: place, body }) => {
    if (body.early_head === undefined) return [];
    const path = [...place, "early_head"];
    const isNative = placesOf(body).some((place) => place.upstream_request_type === "responses");
    const comments =
      "gives clients of Responses only comments, and over a WebSocket nothing, which Codex does not count, " +
      "because upstream_request_type of a target is responses";
    const waitMs = longestWaitMs(config, body);
    const timeouts =
      `gives signs of life for up to ${
        Math.round(waitMs / 1000)
      }s, the timeouts of all attempts, but Claude Code ` +
      "gives up after 600s; lower 'timeout' of the providers or 'retry.max_attempts'";
    return [
      ...isNative ? [problem(path, comments)] : [],
      ...waitMs > MAX_WAIT_MS ? [problem(path, timeouts)] : [],
    ];
  });
}

function placesOf({ targets, fallback }: RouteBody) {
  return [...targets.filter(({ weight }) => weight > 0), ...fallback];
}

/** Returns the time that the attempts at all targets take if none of them responds. */
function longestWaitMs({ providers, retry }: Config, route: RouteBody): number {
  const attempts = retry.enabled ? retry.max_attempts : 1;
  return placesOf(route).reduce(
    (sum, { provider }) => sum + (providers[provider]?.timeout ?? 0) * attempts,
    0,
  );
}
