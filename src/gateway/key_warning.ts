import type { Log } from "../observe/log.ts";
import type { KeyListener } from "../state/key_rests.ts";

/** Returns a listener that logs one warning for each rest of a rejected key, with its name and never its value. */
export function newKeyWarning(log: Log): KeyListener {
  return ({ provider, name }, status, ms, model) =>
    log.warn("the provider refused a key, which rests", {
      provider,
      key: name,
      ...model !== undefined && { model },
      status,
      rest_ms: Math.round(ms),
    });
}
