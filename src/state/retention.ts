/** Stateful objects live this many milliseconds. */
export const STATE_TTL = 30 * 60 * 1000;

/** Of each kind of stateful object there are at most so many. */
export const MOST_OBJECTS = 1_000;

/** The stored responses together have at most so many bytes, and so have the local conversations. */
export const STATE_BYTES = 64 * 1024 * 1024;

const encoder = new TextEncoder();

/** The bytes that a value takes as JSON text. */
export function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).length;
}
