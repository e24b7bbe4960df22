import { utf8Bytes } from "../formats/utf8.ts";

/**
 * The body of an upstream request. It is serialized on first use: most prepared requests are never
 * sent.
 */
export interface Payload {
  /** Returns the body as text; empty for a multipart body. */
  text(): string;
  /** Returns the body in UTF-8; a multipart body in the pieces in which it was received. */
  bytes(): Uint8Array<ArrayBuffer> | readonly Uint8Array<ArrayBuffer>[];
}

/** A body that is one text. */
export interface TextPayload extends Payload {
  bytes(): Uint8Array<ArrayBuffer>;
}

/**
 * Length from which a text is written again if it is needed again, as for a retry: a copy of each
 * large request would be in memory until its response.
 */
const MIN_LARGE_CHARS = 256 * 1024;

/**
 * Returns the payload whose text comes from `write`, which runs once unless the text is large.
 * `received` returns the client's own bytes if they can be sent unchanged: copying a large body
 * costs 5 % of its request.
 */
export function newPayload(
  write: () => string,
  received: () => Uint8Array<ArrayBuffer> | null = nothing,
): TextPayload {
  let text: string | null = null;
  let unwritten: () => string = write;

  function written(): string {
    if (text !== null) return text;
    const written = unwritten();
    if (written.length >= MIN_LARGE_CHARS) return written;
    text = written;
    // Releases the source document before the call ends.
    unwritten = empty;
    return text;
  }

  return {
    text: written,
    // Encoded bytes are not stored: only a retry needs them again, and the text is in memory
    // already.
    bytes: () => received() ?? utf8Bytes(written()),
  };
}

function nothing(): null {
  return null;
}

function empty(): string {
  return "";
}
