import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

/**
 * Beginning of the signature of thinking that the gateway has made, with the version of its format,
 * so that later versions can recognise it.
 */
export const SEALED_PREFIX = "switchyard1.";

/**
 * Returns a text as opaque text that a stateless client sends back. It is not encrypted and needs
 * no key, so it stays valid after a restart.
 */
export function sealText(text: string): string {
  const payload = Buffer.from(text).toString("base64url");
  return `${SEALED_PREFIX}${checksumOf(payload)}.${payload}`;
}

/** Returns the text in one of `sealText`; null for other text. A client may forge it. */
export function sealedText(sealed: string): string | null {
  if (!sealed.startsWith(SEALED_PREFIX)) return null;
  const [checksum = "", payload = ""] = sealed.slice(SEALED_PREFIX.length).split(".", 2);
  return checksum === checksumOf(payload) ? Buffer.from(payload, "base64url").toString() : null;
}

/**
 * Returns a checksum that detects damage, not forgery: the upstream checks the signatures inside.
 */
function checksumOf(payload: string): string {
  return createHash("sha256").update(payload).digest("hex").slice(0, 16);
}
