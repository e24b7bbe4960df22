/** ASCII codes of the characters that frame replies. */
const LINE_FEED_CODE = 10, MINUS_CODE = 45, ARRAY_CODE = 42, TEXT_CODE = 36, ZERO_CODE = 48;

/** Finds the ends of replies in the bytes of a connection (RESP2). */
export interface ReplyFramer {
  /**
   * Takes the next bytes. Returns how many of them complete replies; the rest begins another one.
   */
  take(bytes: Uint8Array): number;
}

/** Returns a framer at the beginning of a reply. */
export function newReplyFramer(): ReplyFramer {
  /** Bytes of a text that are still to come, with its line end. */
  let textBytes = 0;
  /** Values until the end of the reply. */
  let missing = 1;
  /** First character of a line, 0 before it. */
  let kind = 0;
  /** Number in a line that begins an array or a text; negative for one that is absent. */
  let size = 0;

  function takeOfLine(code: number): void {
    if (code === LINE_FEED_CODE) endLine();
    else if (kind === 0) kind = code;
    else if (code === MINUS_CODE) size = -Infinity;
    else if (code >= ZERO_CODE) size = size * 10 + code - ZERO_CODE;
  }

  function endLine(): void {
    if (kind === ARRAY_CODE) missing += Math.max(size, 0) - 1;
    else if (kind === TEXT_CODE && size >= 0) textBytes = size + 2;
    else missing -= 1;
    kind = size = 0;
  }

  return {
    take(bytes) {
      let complete = 0;
      for (let at = 0; at < bytes.length;) {
        if (textBytes > 0) {
          const step = Math.min(textBytes, bytes.length - at);
          textBytes -= step;
          at += step;
          if (textBytes === 0) missing -= 1;
        } else {
          takeOfLine(bytes[at++] ?? LINE_FEED_CODE);
        }
        if (missing > 0) continue;
        missing = 1;
        complete = at;
      }
      return complete;
    },
  };
}
