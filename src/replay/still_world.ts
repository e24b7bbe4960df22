import { createHash } from "node:crypto";
import type { World } from "../core/world.ts";

/** A world in which nothing moves by itself: the same records give the same results. */
export interface StillWorld extends World {
  /** Begins a record: its time is the clock, and random numbers follow from its ID. */
  begin(id: string, wallMs: number): void;
}

/**
 * Returns a world without clock, randomness and network. Timers never end; sending anything is a
 * bug.
 */
export function newStillWorld(seed: number): StillWorld {
  let wallMs = 0;
  let prefix = "";
  let drawn = 0;

  function digest(): Uint8Array {
    return createHash("sha256").update(`${prefix} ${drawn++}`).digest();
  }

  return {
    begin(id, ms) {
      wallMs = ms;
      prefix = `${seed} ${id}`;
      drawn = 0;
    },
    now: () => 0,
    unix: () => Math.floor(wallMs / 1000),
    wall: () => wallMs,
    random: () => new DataView(digest().buffer).getUint32(0) / 2 ** 32,
    uuid() {
      const hex = digest().slice(0, 16).toHex();
      const parts = [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`];
      return [...parts, `8${hex.slice(17, 20)}`, hex.slice(20)].join("-");
    },
    after: () => () => {},
    send: () => Promise.reject(new Error("a call that is only planned was sent")),
  };
}
