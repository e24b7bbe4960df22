import { listOf } from "./list_of.ts";
import { type Problem, problem } from "./problems.ts";
import { placedBodies } from "./placed_bodies.ts";
import type { Config } from "./schema.ts";

/**
 * Returns one warning for all routes and named models whose fallbacks never follow a stream without
 * content. It has the place of the first one.
 */
export function silenceWarnings(config: Config): Problem[] {
  const { providers } = config;
  const unlimited = placedBodies(config).filter(({ body: { targets, fallback } }) =>
    fallback.length > 0 &&
    targets.every(({ provider, first_content_timeout }) =>
      (first_content_timeout ?? providers[provider]?.first_content_timeout) === undefined
    )
  );
  const [first, ...others] = unlimited;
  if (first === undefined) return [];
  const names = listOf(others.map(({ name }) => name), "conjunction");
  const text =
    "is not tried while the stream of a target has no content: set first_content_timeout of its " +
    "provider above what gateway_time_to_first_token_seconds shows" +
    (others.length === 0 ? "" : `; likewise the fallbacks of ${names}`);
  return [problem([...first.path, "fallback"], text, "key")];
}
