import { newId } from "../../../core/ids.ts";
import type { World } from "../../../core/world.ts";
import { newNumbering, type Numbering } from "./numbering.ts";

/** Members that a generated response keeps from its first event to its last. */
export interface Identity {
  readonly id: string;
  /** Creation time in seconds since 1970. */
  readonly created: number;
  readonly numbering: Numbering;
}

/** Identities of the responses that the attempts of one call generate. */
export type Identities = ReturnType<typeof newIdentities>;

/** Returns the identities of a call: a new one for each attempt, until the client has one. */
export function newIdentities(world: Pick<World, "uuid" | "unix">) {
  let latest: Identity | null = null;
  let isKnown = false;

  function next(): Identity {
    if (latest === null || !isKnown) {
      latest = { id: newId("resp_", world), created: world.unix(), numbering: newNumbering() };
    }
    return latest;
  }

  return {
    /** Returns the identity of the response of an attempt that begins. */
    next,
    /** Returns the identity of the attempt that runs, which all later ones have too. */
    keep(): Identity {
      const identity = latest ?? next();
      isKnown = true;
      return identity;
    },
  };
}
