import { hashOf } from "./words.ts";

/**
 * What the messages voice signs its thinking with: the same text gives the same signature, so that
 * thinking that comes back changed is noticed.
 */
export function signatureOf(thinking: string): string {
  return btoa(`sim.${hashOf(thinking)}`);
}
