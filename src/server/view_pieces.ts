type Bytes = Uint8Array<ArrayBuffer>;

/** Size of a piece. The runtime takes some ahead: measured, up to 0.5 MiB for one connection. */
const PIECE_BYTES = 64 * 1024;

/** Yields the bytes in pieces of 64 KiB. */
export function* viewPieces(bytes: Bytes): Generator<Bytes, void, void> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}
