import type { Call } from "../../call/call.ts";
import { restoreJson } from "../../privacy/restore_json.ts";
import { type ResponsePromise, restoredPromises } from "../../wires/verified/response_promise.ts";

/**
 * Returns the promises to the client of a call. If the provider has tokens in the place of values,
 * the text that the client receives is checked against the schema that the client has sent.
 */
export function promisesTo(
  { client: { privacy } }: Pick<Call, "client">,
  promises: readonly ResponsePromise[],
): readonly ResponsePromise[] {
  const tokens = privacy?.tokens;
  if (tokens === undefined || tokens.size === 0) return promises;
  return restoredPromises(promises, (text) => restoreJson(text, tokens));
}
