/** The account and the caller that created an object. */
export interface Owner {
  readonly provider: string;
  /** Digest of the account: its type, endpoint, organization and key. */
  readonly account: string;
  /**
   * Provenance of a response or a stored completion; null for other objects, and if it is not
   * known.
   */
  readonly origin: ResponseProvenance | null;
  readonly creator: Creator;
}

/** The caller that has created an object, or `SEVERAL_CALLERS`; null for a client without a key. */
export type Creator = string | null;

/**
 * Creator of an ID that several callers have received: by such an ID each caller could see the
 * object of another.
 */
export const SEVERAL_CALLERS = "several callers";

/** The client of a call, by which the objects of clients are isolated. */
export interface Caller {
  /** Name that does not change with the value of a key; null for a client without a key. */
  readonly name: string | null;
  /** True if the call may not see objects of another caller. */
  readonly isIsolated: boolean;
}

/**
 * Properties of a response that the next response in its chain reuses, and of a stored completion.
 */
export interface ResponseProvenance {
  readonly route: string;
  /** Model that generated the response, without its provider. */
  readonly model: string;
  /**
   * Requested model, without its provider; a fallback may have used another model. Null if the
   * request had none.
   */
  readonly requestedModel: string | null;
  readonly protocol: "chat_completions" | "responses";
  /** True if the gateway stores the response and its whole history. */
  readonly hasSnapshot: boolean;
  /** How the client sees an object of a named model; absent if its provider's members are right. */
  readonly shown?: Shown;
}

/** Members of an object that its provider stores, as a client of a named model sees them. */
export interface Shown {
  /** Model in place of the served one; null to keep that. */
  readonly model: string | null;
  /** Characters at the end of `instructions` that the named model has added; 0 for none. */
  readonly appended: number;
}

/**
 * Owner of an ID. `conflict` means that two accounts have returned the same ID, so its owner is
 * ambiguous.
 */
export type Binding =
  | { readonly kind: "bound"; readonly owner: Owner }
  | { readonly kind: "conflict"; readonly creator: Creator };

/** Returns the creator of the objects that are bound under an ID. */
export function creatorOf(binding: Binding): Creator {
  return binding.kind === "bound" ? binding.owner.creator : binding.creator;
}

/**
 * True if the caller may see an object of this creator: always without isolation, else only the
 * same caller. With isolation, objects of several callers and of clients without a key are visible
 * to no caller.
 */
function isVisibleTo({ isIsolated, name }: Caller, creator: Creator): boolean {
  return !isIsolated || creator === name;
}

/** True if the call may see objects of this creator. */
export function isVisible(
  { caller }: { readonly caller: Caller },
  creator: Creator,
): boolean {
  return isVisibleTo(caller, creator);
}

/** True if the caller may see the object of a binding, and replace it. */
export function mayUse(binding: Binding, caller: Caller): boolean {
  return binding.kind === "bound" && isVisibleTo(caller, creatorOf(binding));
}

/**
 * Returns the binding after an account has returned the ID to a caller; null if it does not change.
 */
export function mergeBinding(earlier: Binding, owner: Owner): Binding | null {
  const isSameCreator = creatorOf(earlier) === owner.creator;
  const creator = isSameCreator ? owner.creator : SEVERAL_CALLERS;
  const isSettled = creatorOf(earlier) === creator;
  if (earlier.kind === "conflict") return isSettled ? null : { kind: "conflict", creator };
  if (earlier.owner.account !== owner.account) return { kind: "conflict", creator };
  return isSettled ? null : { kind: "bound", owner: { ...earlier.owner, creator } };
}

/** Returns the owner of a response that the gateway does not store itself. */
export function withoutSnapshot(owner: Owner): Owner {
  const { origin } = owner;
  return origin === null ? owner : { ...owner, origin: { ...origin, hasSnapshot: false } };
}
