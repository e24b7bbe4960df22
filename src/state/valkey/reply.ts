import { Buffer } from "node:buffer";
import type { StoreStats } from "../object_store.ts";

/** Returns a reply as text; null if it is not bytes. */
export function textOf(reply: unknown): string | null {
  return reply instanceof Buffer ? reply.toString("utf8") : null;
}

/** Returns a reply as bytes; null if it is not bytes. */
export function bytesOf(reply: unknown): Uint8Array | null {
  return reply instanceof Uint8Array ? reply : null;
}

/** Returns a reply as an integer; null if it is none. */
export function integerOf(reply: unknown): number | null {
  const number = typeof reply === "number" ? reply : Number(textOf(reply) ?? Number.NaN);
  return Number.isSafeInteger(number) ? number : null;
}

/** Returns a reply as a list; empty if it is none. */
export function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

/** Returns the size of a store in the reply of a script. */
export function statsOf(entries: unknown, bytes: unknown): StoreStats {
  return { entries: integerOf(entries) ?? 0, bytes: integerOf(bytes) ?? 0 };
}
