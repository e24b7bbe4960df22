import { createHash } from "node:crypto";

/** Position of the nonce in a sealed record: after the version and the number of the key. */
export const NONCE_OFFSET = 2;

/** Length of a nonce of AES-GCM (NIST SP 800-38D, 5.2.1.1). */
const NONCE_BYTES = 12;

/** Length of what precedes the ciphertext. */
export const HEADER_BYTES = NONCE_OFFSET + NONCE_BYTES;

/** Length of the authentication tag, at the end of the ciphertext. */
export const TAG_BYTES = 16;

/** Encryption keys of 32 bytes; the first one encrypts. */
export type EncryptionKeys = readonly [Uint8Array<ArrayBuffer>, ...Uint8Array<ArrayBuffer>[]];

const encoder = new TextEncoder();

/** Returns a new random nonce. */
export function newNonce(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
}

/**
 * Returns the number by which a record names its key: the first byte of the key's SHA-256. A
 * position in the list would change when a new key is put first. Two keys may have the same number.
 */
export function keyNumberOf(key: Uint8Array<ArrayBuffer>): number {
  const [number = 0] = createHash("sha256").update(key).digest();
  return number;
}

/** Returns the bytes that are authenticated with a record, so that none can replace another. */
export function additionalData(kind: string, id: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify([kind, id]));
}
