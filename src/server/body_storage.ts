type Bytes = Uint8Array<ArrayBuffer>;

/** Memory of a body that is received. */
export interface BodyStorage {
  /** Returns the place for the next bytes, which is never empty. */
  room(): Bytes;
  /** Takes back the place of `room`, whose first bytes are the next ones of the body. */
  filled(bytes: Bytes): void;
  /** Copies the next bytes of the body. */
  append(bytes: Bytes): void;
  /** Returns the body in order; nothing is stored any more. */
  pieces(): readonly Bytes[];
}

/** Size of the first buffer. Each further buffer has twice the size of the bytes received. */
const FIRST_BUFFER_BYTES = 16 * 1024;

/** Largest buffer that is reused, and limit of the unused buffers of each size. */
const MAX_REUSED_BUFFER_BYTES = 256 * 1024, MAX_UNUSED_BUFFERS = 4;

/**
 * Unused buffers by their size. Measured: new buffers for a body of 200 kB, all of which the system
 * first fills with zeros, cost a fifth of parsing it.
 */
const unused = new Map<number, ArrayBuffer[]>();

/** Returns a buffer whose bytes are those of an earlier body until they are overwritten. */
function takeBuffer(bytes: number): ArrayBuffer {
  return unused.get(bytes)?.pop() ?? new ArrayBuffer(bytes);
}

function reuseBuffer(buffer: ArrayBuffer): void {
  const bytes = buffer.byteLength;
  // Only the sizes that doubling makes: there are few.
  const isReused = bytes >= FIRST_BUFFER_BYTES && bytes <= MAX_REUSED_BUFFER_BYTES &&
    Number.isInteger(Math.log2(bytes));
  if (!isReused) return;
  const ofSize = unused.get(bytes) ?? [];
  if (ofSize.length === 0) unused.set(bytes, ofSize);
  if (ofSize.length < MAX_UNUSED_BUFFERS) ofSize.push(buffer);
}

/**
 * Returns memory in one buffer, which grows with the bytes received. `declared` is the length of
 * the body if it is known.
 */
export function newOneBuffer(declared: number | null): BodyStorage {
  let buffer = takeBuffer(Math.min(declared ?? FIRST_BUFFER_BYTES, FIRST_BUFFER_BYTES));
  let size = 0;

  function grow(bytes: number) {
    replace(takeBuffer(Math.max(Math.min(bytes, declared ?? Infinity), size + 1)));
  }

  function replace(larger: ArrayBuffer) {
    new Uint8Array(larger).set(new Uint8Array(buffer, 0, size));
    reuseBuffer(buffer);
    buffer = larger;
  }

  return {
    room() {
      if (size === buffer.byteLength) grow(size * 2);
      return new Uint8Array(buffer, size);
    },
    filled(bytes) {
      buffer = bytes.buffer;
      size += bytes.byteLength;
    },
    append(bytes) {
      const needed = size + bytes.byteLength;
      if (needed > buffer.byteLength) replace(takeBuffer(needed * 2));
      new Uint8Array(buffer).set(bytes, size);
      size = needed;
    },
    pieces() {
      // The body is held until its response has ended, so that nothing else is held with it.
      if (size < buffer.byteLength) replace(new ArrayBuffer(size));
      return [new Uint8Array(buffer, 0, size)];
    },
  };
}

/** Size of the first block: a client that sends only a few bytes must not take more. */
const FIRST_BLOCK_BYTES = 16 * 1024;

/**
 * Largest block: the most that the runtime reads at once. Measured: with Deno 2.9, larger blocks
 * take up to twice their size.
 */
const MAX_BLOCK_BYTES = 64 * 1024;

/** Memory of a body in blocks. */
export interface Blocks extends BodyStorage {
  /**
   * Gives the memory of all blocks back to the system at once; the pieces of the body are empty
   * then. Measured: blocks that wait for the collector doubled the memory of uploads one after the
   * other. A write that has begun holds the block that it writes until it ends.
   */
  free(): void;
}

/**
 * Returns memory in blocks, which are not copied when more bytes arrive. Each further block has
 * the size of the bytes received, up to the largest block.
 */
export function newBlocks(): Blocks {
  let full: Bytes[] = [];
  let block = new ArrayBuffer(FIRST_BLOCK_BYTES);
  let size = 0;
  let received = 0;

  function advance(bytes: number) {
    size += bytes;
    received += bytes;
    if (size < block.byteLength) return;
    full.push(new Uint8Array(block));
    block = new ArrayBuffer(Math.min(received, MAX_BLOCK_BYTES));
    size = 0;
  }

  return {
    room: () => new Uint8Array(block, size),
    filled(bytes) {
      block = bytes.buffer;
      advance(bytes.byteLength);
    },
    append(bytes) {
      for (let at = 0; at < bytes.length;) {
        const part = bytes.subarray(at, at + block.byteLength - size);
        new Uint8Array(block).set(part, size);
        at += part.length;
        advance(part.length);
      }
    },
    pieces: () => size === 0 ? full : [...full, new Uint8Array(block, 0, size)],
    free() {
      for (const { buffer } of full) if (!buffer.detached) buffer.transfer(0);
      // A read that is still pending has taken the block, and fills it later.
      if (!block.detached) block.transfer(0);
      full = [];
      block = new ArrayBuffer(FIRST_BLOCK_BYTES);
      size = 0;
    },
  };
}
