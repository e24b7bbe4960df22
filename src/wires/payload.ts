import { utf8Bytes } from "../formats/utf8.ts";

/** The body of an upstream request. It is written when it is first needed: most prepared requests are never sent. */
export interface Payload {
  /** Returns the body as text. */
  text(): string;
  /** Returns the body in UTF-8. */
  bytes(): Uint8Array<ArrayBuffer>;
}

/**
 * Returns the payload that `write` gives; `write` runs at most once. `received` returns the client's
 * own bytes if they are the body as it is, else null: a copy of a large one costs 5 % of its request.
 */
export function newPayload(
  write: () => string,
  received: () => Uint8Array<ArrayBuffer> | null = nothing,
): Payload {
  let text: string | null = null;
  let unwritten: () => string = write;

  function written(): string {
    if (text === null) {
      text = unwritten();
      // What it was written from is free before the call is over.
      unwritten = empty;
    }
    return text;
  }

  return {
    text: written,
    // Encoded bytes are not kept: only a retry asks for them again, and the text stays in memory already.
    bytes: () => received() ?? utf8Bytes(written()),
  };
}

function nothing(): null {
  return null;
}

function empty(): string {
  return "";
}
