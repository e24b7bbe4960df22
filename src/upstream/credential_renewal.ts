import { type CredentialHolder, FIRST_WAIT_MS, isSameCredential } from "../core/credential.ts";
import type { Call } from "../call/call.ts";

/** Time that a refused request waits for another credential. */
const RENEW_WAIT_MS = 10_000;

/** The call for which a request is sent. */
type Sending = Pick<Call, "cancellation" | "world">;

/**
 * Sends a request with a credential that is refreshed. The first credential after a start or a
 * reload is waited for. If the provider refuses the credential with status 401, it is refreshed and
 * the request is sent once more: a refused request was certainly not processed. The same if it has
 * refused the signature, and the time of its clock is known since. `refusedWith` returns the status
 * with which a request was refused for its credential; undefined for every other result.
 */
export async function sendWithCredential<Sent>(
  call: Sending,
  holder: CredentialHolder,
  send: (isRotated: boolean) => Promise<Sent>,
  refusedWith: (sent: Sent) => number | undefined,
): Promise<Sent> {
  const first = holder.first();
  if (first !== null) await unlessCancelled(call, first, FIRST_WAIT_MS);
  const used = holder.issued();
  const { clockAheadMs } = holder;
  const sent = await send(false);
  const status = refusedWith(sent);
  if (status === 403 && clockAheadMs !== holder.clockAheadMs) {
    return call.cancellation.reason === null ? await send(true) : sent;
  }
  if (status !== 401) return sent;
  await unlessCancelled(call, holder.renew(used), RENEW_WAIT_MS);
  const isSame = isSameCredential(holder.issued(), used);
  return isSame || call.cancellation.reason !== null ? sent : await send(true);
}

/** Waits for a promise, at most for `ms` milliseconds, and not after the call has ended. */
async function unlessCancelled(
  { cancellation, world }: Sending,
  awaited: Promise<unknown>,
  ms: number,
): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const unsubscribe = cancellation.onCancel(() => ended.resolve());
  const cancelTimer = world.after(ms, ended.resolve);
  await Promise.race([awaited, ended.promise]);
  unsubscribe();
  cancelTimer();
}
