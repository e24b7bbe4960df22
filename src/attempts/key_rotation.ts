import { type Failure, type Fault, isRefusal } from "../core/failure.ts";
import { failed, fault, type Result } from "../core/result.ts";
import type { Reply } from "../core/reply.ts";
import { accountsOf, findRest, pickAccount, restAccount } from "../call/accounts.ts";
import type { Call } from "../call/call.ts";
import { setCarriage } from "../call/carriage.ts";
import type { Candidate } from "../call/inference.ts";
import type { Rest } from "../state/key_rests.ts";

type Account = Candidate["target"]["account"];

/** Requests of one attempt. */
export interface Requests {
  /** Sends one request; `isRotated` if another key was refused before it in the same attempt. */
  send(candidate: Candidate, isRotated: boolean): Promise<Result<Reply>>;
  /** Called with the failure of an attempt that sends no request because all keys rest. */
  notSent(failure: Failure): void;
}

/**
 * Makes one attempt at a candidate with a pool of keys. A key that the upstream refuses rests, and the
 * next key is used at once, each key at most once: a refused request was certainly not processed. If every key
 * rests the attempt fails without a request.
 */
export async function sendWithKeys(
  call: Call,
  candidate: Candidate,
  requests: Requests,
): Promise<Result<Reply>> {
  const { provider } = candidate.target;
  const first = candidate.prefersAccount === true ? candidate.target.account : null;
  const used = new Set<Account>();
  let accounts = accountsOf(candidate);
  let refused: Fault | null = null;
  for (;;) {
    const account = pickAccount(call, provider, { accounts, used, first });
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
    if (reply.ok) return reply;
    const { failure } = reply;
    if (isRefusal(failure) || failure.keyRefusal === undefined) return reply;
    used.add(account);
    refused = failure;
    const { keyRefusal: refusal, retryAfterMs } = failure;
    restAccount(call, provider, account, { refusal, retryAfterMs });
    const { reason } = call.cancellation;
    if (reason !== null) return failed(reason);
  }
  if (refused !== null) return failed(lastRefusal(call, candidate, { accounts, used, refused }));
  const resting = allResting(accounts.map((account) => findRest(call, provider, account)));
  requests.notSent(resting);
  return failed(resting);
}

/** An attempt of which each key was refused or rested. */
interface RefusedAttempt {
  readonly accounts: readonly Account[];
  readonly used: ReadonlySet<Account>;
  /** The last refusal. */
  readonly refused: Fault;
}

/** Returns the failure of an attempt after its last key was refused. */
function lastRefusal(
  call: Call,
  { target: { provider } }: Candidate,
  { accounts, used, refused }: RefusedAttempt,
): Fault {
  const rests = accounts.map((account) => findRest(call, provider, account));
  // A key whose circuit breaker is open was neither used, nor does it rest.
  const areThrottled = refused.keyRefusal?.kind === "throttled" &&
    accounts.every((account, at) => used.has(account) || rests[at] !== null) &&
    rests.every((rest) => rest === null || rest.kind === "throttled");
  return areThrottled ? throttled(refused, shortest(rests)) : refused;
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

/** Returns the failure of an attempt of which every key was throttled, with the shortest rest. */
function throttled(refused: Fault, retryAfterMs: number): Fault {
  const { upstream } = refused;
  const seconds = String(Math.ceil(retryAfterMs / 1_000));
  return {
    ...refused,
    kind: "upstream_throttled",
    retryAfterMs,
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
      "All keys of the provider rest after they were refused; the log names them.",
      details,
    );
  return failure;
}
