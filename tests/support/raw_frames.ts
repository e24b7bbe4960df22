import { Buffer } from "node:buffer";

/** Types of frames (RFC 6455, section 11.8). */
export const CONTINUES_CODE = 0, TEXT_CODE = 1, BINARY_CODE = 2, PONG_CODE = 10;

/** The head of a WebSocket handshake at `/v1/responses`. */
export function handshake(host: string, ...lines: readonly string[]): string {
  return [
    "GET /v1/responses HTTP/1.1",
    `host: ${host}`,
    "connection: Upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
    ...lines,
    "\r\n",
  ].join("\r\n");
}

/** A frame of a client, one character for each byte. */
export function frame(opcode: number, bytes: string | Uint8Array, isLast = true): string {
  const payload = Buffer.from(bytes);
  const { length } = payload;
  const first = (isLast ? 0x80 : 0) | opcode;
  const head = length < 126
    ? [first, 0x80 | length]
    : length < 0x10000
    ? [first, 0x80 | 126, length >> 8, length & 0xff]
    : [first, 0x80 | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (length >> shift) & 0xff)];
  // A mask of zeros leaves the payload as it is.
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), payload]).toString("latin1");
}
