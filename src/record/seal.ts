import { createCipheriv, createDecipheriv } from "node:crypto";
import {
  additionalData,
  HEADER_BYTES,
  keyNumberOf,
  newNonce,
  NONCE_OFFSET,
  TAG_BYTES,
} from "../store/records/sealed_layout.ts";

/** First byte of a sealed part; the stored objects of clients have others. */
const SEALED_CODE = 0x02;

/**
 * Parts of a row that are sealed alone, so that a filter needs no content: of several records, or
 * of one.
 */
export type Part = "record_heads" | "record_bodies" | "record_head" | "record_body";

/** The bytes of a part, or the number of its key if it cannot be opened. */
export type Opened =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly keyNumber: number | null };

/** Seals the parts of records with AES-256-GCM, in the thread of their file. */
export interface Sealer {
  /** Returns the sealed part of the row with this number. */
  seal(part: Part, seq: number, bytes: Uint8Array): Uint8Array<ArrayBuffer>;
  /** Opens what `seal` has made for the same part and number with any of the keys. */
  open(part: Part, seq: number, sealed: Uint8Array): Opened;
}

/**
 * Returns a sealer with the layout of the state store's records: the first key seals, all open.
 * Unlike there it does not wait for another thread, because it runs in one.
 */
export function newSealer(keys: readonly Uint8Array<ArrayBuffer>[]): Sealer {
  const numbered = keys.map((key) => ({ number: keyNumberOf(key), key }));
  const [writer] = numbered;
  if (writer === undefined) throw new TypeError("records need an encryption key");
  return {
    seal(part, seq, bytes) {
      const nonce = newNonce();
      const cipher = createCipheriv("aes-256-gcm", writer.key, nonce);
      cipher.setAAD(additionalData(part, String(seq)));
      const text = cipher.update(bytes);
      // GCM keeps nothing back: this makes the tag.
      cipher.final();
      const sealed = new Uint8Array(HEADER_BYTES + text.length + TAG_BYTES);
      sealed.set([SEALED_CODE, writer.number]);
      sealed.set(nonce, NONCE_OFFSET);
      sealed.set(text, HEADER_BYTES);
      sealed.set(cipher.getAuthTag(), sealed.length - TAG_BYTES);
      return sealed;
    },
    open(part, seq, sealed) {
      const keyNumber = sealed[1] ?? null;
      if (sealed[0] !== SEALED_CODE || sealed.length < HEADER_BYTES + TAG_BYTES) {
        return { ok: false, keyNumber: null };
      }
      for (const { number, key } of numbered) {
        const bytes = number === keyNumber ? opened(key, part, seq, sealed) : null;
        if (bytes !== null) return { ok: true, bytes };
      }
      return { ok: false, keyNumber };
    },
  };
}

/** Returns the bytes of a part; null if it is not authentic. */
function opened(key: Uint8Array, part: Part, seq: number, sealed: Uint8Array): Uint8Array | null {
  try {
    const decipher = createDecipheriv(
      "aes-256-gcm",
      key,
      sealed.subarray(NONCE_OFFSET, HEADER_BYTES),
    );
    decipher.setAAD(additionalData(part, String(seq)));
    decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES));
    const text = decipher.update(sealed.subarray(HEADER_BYTES, sealed.length - TAG_BYTES));
    // Throws unless the tag is that of the text.
    decipher.final();
    return text;
  } catch {
    return null;
  }
}
