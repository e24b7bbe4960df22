/** First byte of a ping, which is one whole frame (RFC 6455, section 5.2). */
const PING_CODE = 0x89;

/** Second byte of a frame with a mask, as a client's is, before its length is added. */
const MASK_CODE = 0x80;

/** Size of the mask, and of a head in which the length is one byte. */
const MASK_BYTES = 4, SHORT_HEAD_BYTES = 2;

/** Lengths that stand for one of 2 or of 8 bytes after the head. */
const LENGTH_16_CODE = 126, LENGTH_64_CODE = 127;

const MAX_PAYLOAD_BYTES = 125;

/** Size of the largest ping of a client: the runtime accepts a short length in the long form. */
const MAX_PING_BYTES = SHORT_HEAD_BYTES + 8 + MASK_BYTES + MAX_PAYLOAD_BYTES;

/** Other bytes look like 6 pings in a row once in about 10^16 times. */
const MIN_PING_COUNT = 6;

/** Bytes of a sample that has at least 6 whole pings, wherever it begins. */
export const MIN_SAMPLE_BYTES = (MIN_PING_COUNT + 1) * MAX_PING_BYTES;

/**
 * True if these bytes, which a client of a WebSocket has sent, are nothing but pings, the first and
 * the last of them perhaps in part.
 */
export function isOnlyPings(bytes: Uint8Array): boolean {
  for (let start = 0; start < MAX_PING_BYTES; start++) {
    if (arePingsFrom(bytes, start)) return true;
  }
  return false;
}

function arePingsFrom(bytes: Uint8Array, start: number): boolean {
  let at = start, pings = 0;
  while (at < bytes.length) {
    const length = pingBytes(bytes, at);
    if (length === null) return false;
    at += length;
    if (at <= bytes.length) pings++;
  }
  return pings >= MIN_PING_COUNT;
}

/** Returns the size of the ping whose head begins at `at`; null if it is no ping of a client. */
function pingBytes(bytes: Uint8Array, at: number): number | null {
  const code = bytes[at + 1] ?? MASK_CODE;
  if (bytes[at] !== PING_CODE || code < MASK_CODE) return null;
  const first = code - MASK_CODE;
  const lengthBytes = first === LENGTH_16_CODE ? 2 : first === LENGTH_64_CODE ? 8 : 0;
  const headBytes = SHORT_HEAD_BYTES + lengthBytes;
  const payloadBytes = lengthBytes === 0 ? first : bytes[at + headBytes - 1] ?? 0;
  return headBytes + MASK_BYTES + payloadBytes;
}
