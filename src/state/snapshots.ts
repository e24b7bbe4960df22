import type { JsonObject } from "../core/json.ts";
import { BoundedStore } from "./bounded_store.ts";
import { heldBytes, MOST_OBJECTS, STATE_BYTES, STATE_TTL } from "./retention.ts";

/** A response that the gateway keeps itself. */
export interface Snapshot {
  /** The whole resource, as the client got it. */
  readonly resource: JsonObject;
  /** Everything the model was given, oldest first; every item has an id. */
  readonly input: readonly JsonObject[];
}

/** Kept responses by id. What owns them is for the bindings to say. */
export interface Snapshots {
  get(id: string): Snapshot | undefined;
  /** False when the response is larger than everything that may be kept. */
  keep(id: string, snapshot: Snapshot): boolean;
  delete(id: string): boolean;
  /** Those that are still good, oldest first. */
  values(): readonly Snapshot[];
  readonly entries: number;
  readonly bytes: number;
}

/** No responses yet. `now` gives milliseconds that never go back. */
export function newSnapshots(now: () => number): Snapshots {
  const limits = { ttl: STATE_TTL, entries: MOST_OBJECTS, bytes: STATE_BYTES };
  const store = new BoundedStore<Snapshot>(limits, now);
  return {
    get: (id) => store.get(id),
    keep: (id, snapshot) => store.set(id, snapshot, heldBytes(id) + bytesOf(snapshot)),
    delete: (id) => store.delete(id),
    values: () => store.values(),
    get entries() {
      return store.entries;
    },
    get bytes() {
      return store.bytes;
    },
  };
}

function bytesOf({ resource, input }: Snapshot): number {
  return heldBytes(resource) + input.reduce((bytes, item) => bytes + heldBytes(item), 0);
}
