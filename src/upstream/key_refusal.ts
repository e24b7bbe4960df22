import type { KeyRefusal } from "../core/failure.ts";

/** Returns the refusal of the key that a status means; null for a status that does not concern the key. */
export function keyRefusal(status: number): KeyRefusal | null {
  switch (status) {
    case 429:
      return { kind: "throttled", status };
    case 401:
    case 402:
    case 403:
      return { kind: "rejected", status };
    default:
      return null;
  }
}
