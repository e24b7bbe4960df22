import { type Result, success } from "../core/failure/result.ts";
import { pickRendezvous } from "../traffic/rendezvous.ts";
import type { BreakerState } from "../traffic/breakers.ts";
import type { Rest } from "../traffic/key_rests.ts";
import type { Provider, ProviderAccount, Target } from "../wires/wire.ts";
import type { Call } from "../call/call.ts";
import type { Candidate, Inference } from "../call/inference.ts";
import { hasPool, servingAccounts } from "./key_pool.ts";

/** The state of keys and breakers, and the settings that apply to a call. */
type Context = Pick<Call, "generation" | "state">;

/** A target whose account is not chosen yet. */
export type OpenTarget = Omit<Target, "account">;

/**
 * Prepares a call for a target: for its owner, else for the first account that serves the model,
 * from which each attempt may change to another one. Null if no account serves the model.
 */
export function prepareForAccounts(
  target: OpenTarget,
  owner: ProviderAccount | null,
  prepare: (target: Target) => Result<Candidate>,
): Result<Candidate> | null {
  const { provider, model } = target;
  if (owner !== null) {
    return model === "" || owner.serves(model)
      ? withRepetition(prepare({ ...target, account: owner }), prepare)
      : null;
  }
  const [account] = servingAccounts(provider, model);
  if (account === undefined) return null;
  return withOtherAccounts(prepare({ ...target, account }), prepare);
}

/**
 * Prepares a routed call for a target, with the account that has its stored reasoning if there is
 * one.
 */
export function prepareRouted(
  { prepare, reasoningAccount }: {
    readonly prepare: (target: Target) => Result<Candidate>;
    readonly reasoningAccount: Inference["reasoningAccount"] | undefined;
  },
  target: Target,
): Result<Candidate> {
  const { provider, model } = target;
  const account = reasoningAccount === undefined || !hasPool(provider)
    ? undefined
    : servingAccounts(provider, model).find(({ digest }) => digest === reasoningAccount);
  if (account === undefined) return withOtherAccounts(prepare(target), prepare);
  const prepared = withOtherAccounts(prepare({ ...target, account }), prepare);
  return prepared.ok ? success({ ...prepared.value, prefersAccount: true }) : prepared;
}

/** Lets each attempt at a prepared candidate use another key of its provider, if it has a pool. */
function withOtherAccounts(
  prepared: Result<Candidate>,
  prepare: (target: Target) => Result<Candidate>,
): Result<Candidate> {
  if (!prepared.ok || !hasPool(prepared.value.target.provider)) {
    return withRepetition(prepared, prepare);
  }
  const { target } = prepared.value;
  return withRepetition(
    success({ ...prepared.value, withAccount: (account) => prepare({ ...target, account }) }),
    (other) => withOtherAccounts(prepare(other), prepare),
  );
}

/** Lets a prepared candidate be repeated with thinking turned off, if its model may need that. */
function withRepetition(
  prepared: Result<Candidate>,
  prepare: (target: Target) => Result<Candidate>,
): Result<Candidate> {
  if (!prepared.ok || prepared.value.request.mayLackThinking !== true) return prepared;
  const { target } = prepared.value;
  return success({
    ...prepared.value,
    withoutThinking: () => prepare({ ...target, isThinkingOff: true }),
  });
}

/**
 * Returns the accounts that may serve a candidate: the owner of an object, else all that serve the
 * model.
 */
export function accountsOf({ target, withAccount }: Candidate): readonly ProviderAccount[] {
  return withAccount === undefined
    ? [target.account]
    : servingAccounts(target.provider, target.model);
}

/** Returns the rest of a key of a pool, for a model if one is given; null if it does not rest. */
export function findRest(
  { state }: Pick<Call, "state">,
  provider: Provider,
  { digest }: ProviderAccount,
  model?: string,
): Rest | null {
  return hasPool(provider) ? state.keyRests.find(digest, model) : null;
}

/**
 * Returns the circuit of a model: its own if the configuration names it, else the one that all
 * others share.
 */
export function circuitModel({ generation }: Pick<Call, "generation">, model: string): string {
  return generation.namedModels.has(model) ? model : "";
}

/** True if the candidate has a key that does not rest, with a circuit breaker that is not open. */
export function isAble(call: Context, candidate: Candidate): boolean {
  const { provider, account, model } = candidate.target;
  if (!hasPool(provider)) return openForAccount(call, account, model) === 0;
  return accountsOf(candidate).some((account) =>
    openForAccount(call, account, model) === 0 && findRest(call, provider, account, model) === null
  );
}

/**
 * Returns the milliseconds for which the circuit breakers of all keys that do not rest refuse an
 * attempt; 0 if one of them admits it, or if all keys rest.
 */
export function openFor(call: Context, candidate: Candidate): number {
  const { provider, account, model } = candidate.target;
  if (!hasPool(provider)) return openForAccount(call, account, model);
  const awake = accountsOf(candidate)
    .filter((one) => findRest(call, provider, one, model) === null);
  const waits = awake.map((one) => openForAccount(call, one, model));
  return awake.length === 0 ? 0 : Math.min(...waits);
}

/**
 * Returns the milliseconds for which the circuit breaker of an account refuses a request with this
 * model.
 */
function openForAccount(call: Context, { digest }: ProviderAccount, model: string): number {
  const { state, generation: { config } } = call;
  return state.breakers.openFor(digest, config.circuit_breaker, circuitModel(call, model));
}

/** The keys to choose from. */
export interface KeyChoice {
  readonly accounts: readonly ProviderAccount[];
  /** Model of the request, or an empty text. */
  readonly model: string;
  /** Keys that were used in the same attempt, and are not chosen again. */
  readonly used: ReadonlySet<ProviderAccount>;
  /** The key that is chosen if it does not rest; null for none. */
  readonly first?: ProviderAccount | null;
  /** Key of the session, for `key_affinity`; null or absent for none. */
  readonly session?: string | null;
}

/**
 * Returns the key for the next request to a provider, by smooth weighted round-robin, or that of
 * the session with `key_affinity: session`: one that does not rest and was not used in this
 * attempt, with a circuit breaker that is not open and without a doubt if there is one. Null if all
 * rest; also if all breakers are open once a key was used.
 */
export function pickAccount(
  call: Context,
  provider: Provider,
  { accounts, model, used, first = null, session = null }: KeyChoice,
): ProviderAccount | null {
  const awake = accounts.filter((account) =>
    !used.has(account) && findRest(call, provider, account, model) === null
  );
  const closed = awake.filter((account) => openForAccount(call, account, model) === 0);
  const able = closed.length > 0 || used.size > 0 ? closed : awake;
  if (first !== null && able.includes(first)) return first;
  const { keyRests } = call.state;
  const sure = able.filter(({ digest }) => !keyRests.isDoubtful(digest));
  const chosen = sure.length > 0 ? sure : able;
  const [only = null, ...others] = chosen;
  // The owner of an object may have weight 0, which is never picked.
  if (others.length === 0) return only;
  // By name, so that a session keeps its key when the value behind the name is renewed.
  if (session !== null && provider.settings.key_affinity === "session") {
    return pickRendezvous(session, ({ name }) => name, chosen) ?? null;
  }
  return call.state.keyBalancers.pick(provider.id, "weighted", BY_DIGEST, chosen) ?? null;
}

const digestOf = ({ digest }: ProviderAccount) => digest;
const BY_DIGEST = { key: digestOf, load: digestOf, session: null };

/** Returns the number of keys of a provider's pool that rest. */
export function countResting(call: Pick<Call, "state">, provider: Provider): number {
  return provider.accounts.filter((one) => findRest(call, provider, one) !== null).length;
}

const STATES = ["closed", "half-open", "open"] as const;

/**
 * Returns the state of the key that admits most, of the keys of a provider that serve new requests.
 */
export function breakerState(
  { state }: Pick<Call, "state">,
  provider: Provider,
): BreakerState {
  const states = servingAccounts(provider, "").map(({ digest }) => state.breakers.state(digest));
  return STATES.find((one) => states.includes(one)) ?? "closed";
}
