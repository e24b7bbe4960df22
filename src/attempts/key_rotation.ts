import { type Failure, type Fault, isRefusal } from "../core/failure/failure.ts";
import { failed, fault, type Result } from "../core/failure/result.ts";
import type { Reply } from "../core/stream/reply.ts";
import { accountsOf, findRest, pickAccount } from "../routing/accounts.ts";
import type { Call } from "../call/call.ts";
import { awaitTranslation } from "../call/call_turns.ts";
import { sessionKey } from "../call/session.ts";
import { type Candidate, setCarriage } from "../call/inference.ts";
import { isSameRefusal, newKeyTrial } from "../upstream/key_trial.ts";
import type { Rest } from "../traffic/key_rests.ts";

type Account = Candidate["target"]["account"];

/** Number of refusals that are kept besides the last one: each has an error of up to 3 MB. */
const MAX_KEPT_REFUSALS = 2;

/** Requests of one attempt. */
export interface Requests {
  /** Sends one request; `isRotated` if another key was refused before it in the same attempt. */
  send(candidate: Candidate, isRotated: boolean): Promise<Result<Reply>>;
  /** Called with the failure of an attempt that sends no request because all keys rest. */
  notSent(failure: Failure): void;
}

/**
 * Makes one attempt at a candidate with a pool of keys. If the upstream refuses a key, the next one
 * is used at once, each key at most once: a refused request was certainly not processed. So is one
 * after a key whose credential cannot be had. After two equal refusals, of which the request is the
 * likely reason, the first one is returned, or the second if it is not kept. If every key rests the
 * attempt fails without a request.
 */
export async function sendWithKeys(
  call: Call,
  candidate: Candidate,
  requests: Requests,
): Promise<Result<Reply>> {
  const { provider, model } = candidate.target;
  const first = candidate.prefersAccount === true ? candidate.target.account : null;
  const session = sessionKey(call.caller.name, call.client.session);
  const used = new Set<Account>();
  const trial = newKeyTrial(call, provider, model);
  const kept: Fault[] = [];
  let refused: Fault | null = null;
  let areAllThrottled = true;
  let accounts = accountsOf(candidate);
  for (;;) {
    const isAgain = refused !== null && accounts.some((one) => !used.has(one));
    const stopped = isAgain ? await awaitTranslation(call, "entering") : null;
    if (stopped !== null) return stopped;
    const account = pickAccount(call, provider, { accounts, model, used, first, session });
    if (account === null) break;
    const prepared = prepareFor(candidate, account);
    if (!prepared.ok) {
      // A key is refused here if it does not accept the stored reasoning of the call.
      accounts = accounts.filter((one) => one !== account);
      if (accounts.length === 0) return prepared;
      continue;
    }
    setCarriage(call.report, prepared.value);
    const reply = await requests.send(prepared.value, refused !== null);
    if (reply.ok) {
      trial.served(account);
      return reply;
    }
    const { failure } = reply;
    if (isRefusal(failure)) return reply;
    if (failure.kind === "credential_unavailable") {
      // Nothing was sent, and the key is used again as soon as its credential is there.
      used.add(account);
      refused = failure;
      areAllThrottled = false;
      continue;
    }
    if (failure.keyRefusal === undefined) return reply;
    used.add(account);
    const { keyRefusal: refusal, retryAfterMs } = failure;
    const goesOn = trial.refused(account, { refusal, retryAfterMs });
    const { reason } = call.cancellation;
    if (reason !== null) return failed(reason);
    if (!goesOn) {
      const [same = failure] = kept.filter(({ keyRefusal }) =>
        keyRefusal !== undefined && isSameRefusal(keyRefusal, refusal)
      );
      return failed(asThrottled(same, []));
    }
    if (kept.length < MAX_KEPT_REFUSALS) kept.push(failure);
    refused = failure;
    areAllThrottled &&= refusal.kind === "throttled";
  }
  const rests = accounts.map((account) => findRest(call, provider, account, model));
  if (refused !== null) {
    // A key whose circuit breaker is open was neither used, nor does it rest.
    const areThrottled = areAllThrottled &&
      accounts.every((account, at) => used.has(account) || rests[at]?.kind === "throttled");
    return failed(areThrottled ? asThrottled(refused, rests) : refused);
  }
  const resting = allResting(rests);
  requests.notSent(resting);
  return failed(resting);
}

function prepareFor(candidate: Candidate, account: Account): Result<Candidate> {
  return candidate.target.account === account || candidate.withAccount === undefined
    ? { ok: true, value: candidate }
    : candidate.withAccount(account);
}

/** Returns the milliseconds until the first key is used again; 0 if one does not rest any more. */
function shortest(rests: readonly (Rest | null)[]): number {
  return Math.min(...rests.map((rest) => rest?.leftMs ?? 0));
}

/**
 * Returns the failure of a throttled attempt, with the shortest rest if that is less than its
 * `Retry-After`.
 */
function asThrottled(refused: Fault, rests: readonly (Rest | null)[]): Fault {
  if (refused.keyRefusal?.kind !== "throttled") return refused;
  const { upstream, retryAfterMs } = refused;
  const restMs = Math.min(...rests.flatMap((rest) => rest === null ? [] : [rest.leftMs]));
  const kind = "upstream_throttled";
  if (restMs >= (retryAfterMs ?? Infinity)) return { ...refused, kind };
  const seconds = String(Math.ceil(restMs / 1_000));
  return {
    ...refused,
    kind,
    retryAfterMs: restMs,
    upstream: upstream === null
      ? null
      : { ...upstream, headers: { ...upstream.headers, "retry-after": seconds } },
  };
}

/** Returns the failure of an attempt at a provider whose keys all rest. */
function allResting(rests: readonly (Rest | null)[]): Fault {
  const details = { mayHaveRun: false, retryAfterMs: shortest(rests) };
  // A rest may have ended since the keys were looked at.
  const { failure } = rests.every((rest) => rest?.kind !== "rejected")
    ? fault(
      "provider_keys_resting",
      "All keys of the provider rest after status 429; send the request again later.",
      details,
    )
    : fault(
      "provider_keys_refused",
      "The provider rejected all configured keys; the log names them.",
      details,
    );
  return failure;
}
