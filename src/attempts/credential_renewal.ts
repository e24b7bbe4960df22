import { isRefusal } from "../core/failure/failure.ts";
import type { Reply } from "../core/stream/reply.ts";
import type { Result } from "../core/failure/result.ts";
import { type CredentialHolder, FIRST_WAIT_MS, isSameCredential } from "../core/credential.ts";
import type { Call } from "../call/call.ts";

/** Time that a refused request waits for another credential. */
const RENEW_WAIT_MS = 10_000;

/**
 * Makes one attempt with a credential that is refreshed. The first credential after a start or a
 * reload is waited for. If the provider refuses the credential with status 401, it is refreshed and
 * the request is sent once more: a refused request was certainly not processed. The same if it has
 * refused the signature, and the time of its clock is known since.
 */
export async function sendWithCredential(
  call: Call,
  holder: CredentialHolder,
  send: (isRotated: boolean) => Promise<Result<Reply>>,
): Promise<Result<Reply>> {
  const first = holder.first();
  if (first !== null) await unlessCancelled(call, first, FIRST_WAIT_MS);
  const used = holder.issued();
  const { clockAheadMs } = holder;
  const reply = await send(false);
  const status = reply.ok || isRefusal(reply.failure) ? null : reply.failure.keyRefusal?.status;
  if (status === 403 && clockAheadMs !== holder.clockAheadMs) {
    return call.cancellation.reason === null ? await send(true) : reply;
  }
  if (status !== 401) return reply;
  await unlessCancelled(call, holder.renew(used), RENEW_WAIT_MS);
  const isSame = isSameCredential(holder.issued(), used);
  return isSame || call.cancellation.reason !== null ? reply : await send(true);
}

/** Waits for a promise, at most for `ms` milliseconds, and not after the call has ended. */
async function unlessCancelled(
  { cancellation, world }: Call,
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
