import { Buffer } from "node:buffer";

/** Length of an encryption key: AES-256. */
const KEY_BYTES = 32;

/** 32 bytes have 43 digits of base64 and one padding character. */
const BASE64_KEY = /^[A-Za-z0-9+/_-]{43}=?$/;

/** Returns the bytes of an encryption key in base64 or base64url; null if it is not 32 bytes. */
export function parseEncryptionKey(text: string): Uint8Array<ArrayBuffer> | null {
  if (!BASE64_KEY.test(text)) return null;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === KEY_BYTES ? new Uint8Array(bytes) : null;
}
