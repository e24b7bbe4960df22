import { Buffer } from "node:buffer";

/**
 * Reads the text messages of a server from the bytes of a connection, the head of its answer first.
 */
export interface FrameReader {
  /** The messages that are whole with these bytes. */
  push(bytes: Uint8Array): readonly string[];
}

/** Servers do not mask, and send each message as one frame (as this runtime does). */
export function frameReader(): FrameReader {
  let held = Buffer.alloc(0);
  let isHeadRead = false;

  function whole(): string | null {
    const short = (held[1] ?? 0) & 0x7f;
    const start = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (held.length < start) return null;
    const length = short === 126
      ? held.readUInt16BE(2)
      : short === 127
      ? Number(held.readBigUInt64BE(2))
      : short;
    if (held.length < start + length) return null;
    const text = held.subarray(start, start + length).toString();
    held = held.subarray(start + length);
    return text;
  }

  return {
    push(bytes) {
      held = Buffer.concat([held, bytes]);
      if (!isHeadRead) {
        const end = held.indexOf("\r\n\r\n");
        if (end < 0) return [];
        isHeadRead = true;
        held = held.subarray(end + 4);
      }
      const messages: string[] = [];
      for (let text = whole(); text !== null; text = held.length < 2 ? null : whole()) {
        messages.push(text);
      }
      return messages;
    },
  };
}
