import { Buffer } from "node:buffer";

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
