import type { Call } from "../../call/call.ts";
import { restoreJson } from "../../privacy/restore_json.ts";
import { type ResponsePromise, restoredPromises } from "../../prompt/response_promise.ts";
import { newVerifier } from "../../wires/verified/verifier.ts";

/** Returns the stage that checks what the client of a call is promised. */
export function newCallVerifier(
  call: Call,
  promises: readonly ResponsePromise[],
  isStream: boolean,
): ReturnType<typeof newVerifier> {
  const { world, metrics } = call;
  return newVerifier(promisesTo(call, promises), {
    isStream,
    idSource: world,
    onResult: metrics.verified,
  });
}

/**
 * Returns the promises to the client of a call. If the provider has tokens in the place of values,
 * the text that the client receives is checked against the schema that the client has sent.
 */
function promisesTo(
  { client: { privacy } }: Pick<Call, "client">,
  promises: readonly ResponsePromise[],
): readonly ResponsePromise[] {
  const tokens = privacy?.tokens;
  if (tokens === undefined || tokens.size === 0) return promises;
  return restoredPromises(promises, (text) => restoreJson(text, tokens));
}
