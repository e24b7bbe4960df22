const LINE_FEED_CODE = 10;

/** Finds the ends of replies in the bytes of a connection (RESP2). */
export interface ReplyFramer {
  /**
   * Takes the next bytes. Returns how many of them complete replies; the rest begins another one.
   */
  take(bytes: Uint8Array): number;
}

/** Returns a framer at the beginning of a reply. */
export function newReplyFramer(): ReplyFramer {
  const decoder = new TextDecoder();
  /** Bytes of a text that are still to come, with its line end. */
  let textBytes = 0;
  /** Values until the end of the reply. */
  let missing = 1;
  let line = "";

  function endLine(): void {
    const size = Number(line.slice(1));
    if (line.startsWith("*")) missing += Math.max(size, 0) - 1;
    else if (line.startsWith("$") && size >= 0) textBytes = size + 2;
    else missing -= 1;
    line = "";
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
          const end = bytes.indexOf(LINE_FEED_CODE, at);
          const stop = end < 0 ? bytes.length : end + 1;
          line += decoder.decode(bytes.subarray(at, stop), { stream: true });
          at = stop;
          if (end >= 0) endLine();
        }
        if (missing > 0) continue;
        missing = 1;
        complete = at;
      }
      return complete;
    },
  };
}
