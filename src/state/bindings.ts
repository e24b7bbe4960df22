import { BoundedStore } from "./bounded_store.ts";
import { jsonBytes, MOST_OBJECTS, STATE_TTL } from "./retention.ts";

/** Who created an object. */
export interface Owner {
  readonly provider: string;
  /** Digest of what makes the account: its type, endpoint, organization and key. */
  readonly account: string;
  /** How a response came about; null for other objects. */
  readonly origin: Origin | null;
  readonly creator: Creator;
}

/** The caller that has created an object, or `SEVERAL_CALLERS`; null for a client without a key. */
export type Creator = string | null;

/** The creator of an id that several callers have got: under it each could see another's object. */
export const SEVERAL_CALLERS = "several callers";

/** What a response that continues another one keeps of it. */
export interface Origin {
  readonly route: string;
  /** The bare model that answered. */
  readonly model: string;
  /** The bare model that was asked for: a fallback may have answered with another one. */
  readonly asked: string | null;
  readonly protocol: "chat_completions" | "responses";
  /** The gateway itself keeps the response and everything that came before it. */
  readonly hasSnapshot: boolean;
}

/** Conflict: two accounts have returned the same id, so that it says no more who owns it. */
export type Binding =
  | { readonly state: "bound"; readonly owner: Owner }
  | { readonly state: "conflict"; readonly creator: Creator };

/** The creator of everything that was bound under one id. */
export function creatorOf(binding: Binding): Creator {
  return binding.state === "bound" ? binding.owner.creator : binding.creator;
}

/** The owners of one type of object, by its ids. */
export interface Bindings {
  get(id: string): Binding | undefined;
  /**
   * An account has returned an id to a caller. The first account owns it; another one makes a
   * conflict, which stays until it is too old. Another caller makes it an id of several callers.
   */
  bind(id: string, owner: Owner): Binding;
  /** The object is gone. Only a binding of this account is undone, never a conflict. */
  unbind(id: string, account: string): boolean;
  readonly entries: number;
  readonly bytes: number;
}

/** The bindings of one type together have at most so many bytes. */
const BINDING_BYTES = 1024 * 1024;

/**
 * No bindings yet. `now` gives milliseconds that never go back; `lost` hears each id that has no
 * owner any more though nobody has deleted it.
 */
export function newBindings(now: () => number, lost: (id: string) => void = () => {}): Bindings {
  const limits = { ttl: STATE_TTL, entries: MOST_OBJECTS, bytes: BINDING_BYTES };
  const store = new BoundedStore<Binding>(limits, now, lost);

  function keep(id: string, binding: Binding): Binding {
    const isKept = store.set(id, binding, jsonBytes(id) + jsonBytes(binding));
    if (!isKept || binding.state === "conflict") lost(id);
    return binding;
  }

  return {
    get: (id) => store.get(id),
    bind(id, owner) {
      const earlier = store.get(id);
      if (earlier === undefined) return keep(id, { state: "bound", owner });
      const isSameCreator = creatorOf(earlier) === owner.creator;
      const creator = isSameCreator ? owner.creator : SEVERAL_CALLERS;
      const isSettled = creatorOf(earlier) === creator;
      if (earlier.state === "conflict") {
        return isSettled ? earlier : keep(id, { state: "conflict", creator });
      }
      if (earlier.owner.account !== owner.account) return keep(id, { state: "conflict", creator });
      return isSettled
        ? earlier
        : keep(id, { state: "bound", owner: { ...earlier.owner, creator } });
    },
    unbind(id, account) {
      const binding = store.get(id);
      return binding?.state === "bound" && binding.owner.account === account && store.delete(id);
    },
    get entries() {
      return store.entries;
    },
    get bytes() {
      return store.bytes;
    },
  };
}
