/** Who created an object. */
export interface Owner {
  readonly provider: string;
  /** Digest of what makes the account: its type, endpoint, organization and key. */
  readonly account: string;
  /** How a response came about; null for other objects. */
  readonly origin: ResponseProvenance | null;
  readonly creator: Creator;
}

/** The caller that has created an object, or `SEVERAL_CALLERS`; null for a client without a key. */
export type Creator = string | null;

/** The creator of an id that several callers have got: under it each could see another's object. */
export const SEVERAL_CALLERS = "several callers";

/** The client of a call, as far as the objects of clients are kept apart by it. */
export interface Caller {
  /** Stays the same when the value of a key changes; null for a client without a key. */
  readonly name: string | null;
  /** True if objects of another caller do not exist for the call. */
  readonly isIsolated: boolean;
}

/** What a response that continues another one keeps of it. */
export interface ResponseProvenance {
  readonly route: string;
  /** The bare model that answered. */
  readonly model: string;
  /** The bare model that was asked for: a fallback may have answered with another one. */
  readonly requestedModel: string | null;
  readonly protocol: "chat_completions" | "responses";
  /** The gateway itself keeps the response and everything that came before it. */
  readonly hasSnapshot: boolean;
}

/** Conflict: two accounts have returned the same id, so that it says no more who owns it. */
export type Binding =
  | { readonly kind: "bound"; readonly owner: Owner }
  | { readonly kind: "conflict"; readonly creator: Creator };

/** The creator of everything that was bound under one id. */
export function creatorOf(binding: Binding): Creator {
  return binding.kind === "bound" ? binding.owner.creator : binding.creator;
}

/**
 * Returns whether an object of this creator exists for the caller: always while clients share, else
 * only for the same caller. Nothing that several callers or a client without a key have created does
 * then.
 */
export function isVisibleTo({ isIsolated, name }: Caller, creator: Creator): boolean {
  return !isIsolated || creator === name;
}

/** Returns the binding after an account has returned the ID to a caller; null if nothing changes. */
export function mergeBinding(earlier: Binding, owner: Owner): Binding | null {
  const isSameCreator = creatorOf(earlier) === owner.creator;
  const creator = isSameCreator ? owner.creator : SEVERAL_CALLERS;
  const isSettled = creatorOf(earlier) === creator;
  if (earlier.kind === "conflict") return isSettled ? null : { kind: "conflict", creator };
  if (earlier.owner.account !== owner.account) return { kind: "conflict", creator };
  return isSettled ? null : { kind: "bound", owner: { ...earlier.owner, creator } };
}
