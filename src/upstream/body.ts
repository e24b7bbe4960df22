import { failed, fault, type Result, success } from "../core/result.ts";
import type { Watch } from "./watch.ts";

/** Bytes asked for in one read. Measured: 64 KiB for each answer cost 8 % of all in garbage. */
const READ = 16 * 1024;

/** Reads a response body; every read is watched, and an error becomes its Fault. */
export interface BodyReader {
  /** The next bytes, good until the next call; null at the end. */
  read(): Promise<Result<Uint8Array | null>>;
  /** The rest is not wanted: the upstream is told to stop. */
  cancel(): Promise<void>;
}

/** Opens the body of a response. One without a body is at its end. */
export function openBody(response: Response, watch: Watch): BodyReader {
  const reader = readerOf(response);
  let last: Uint8Array<ArrayBuffer> | undefined;
  // The runtime's fetch holds the signal weakly: once garbage is collected, an abort alone stops no body.
  watch.onCut(() => void cancelled(reader));

  return {
    async read() {
      try {
        watch.waits();
        const { value } = await reader.next(last?.buffer);
        last = value;
        if (value === undefined || value.length === 0) {
          const reason = watch.reason();
          return reason === null ? END : failed(reason);
        }
        watch.hears();
        return success(value);
      } catch {
        const reason = watch.reason();
        if (reason !== null) return failed(reason);
        return fault("upstream_unreachable", "The connection to the provider broke mid-answer.");
      }
    },
    async cancel() {
      await cancelled(reader);
      watch.abort();
    },
  };
}

const END = success(null);

async function cancelled(reader: RawReader): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // A body that already broke cannot be cancelled, and need not be.
  }
}

interface RawReader {
  /** May use the buffer of the read before again. */
  next(used: ArrayBuffer | undefined): Promise<{ value?: Uint8Array<ArrayBuffer> | undefined }>;
  cancel(): Promise<void>;
}

/** Content codings in lower case; `x-gzip` is an old name (RFC 9110, section 8.4.1). */
const PACKINGS: ReadonlyMap<string, "gzip" | "deflate"> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
]);

function readerOf({ body, headers }: Response): RawReader {
  if (body === null) return { next: () => Promise.resolve({}), cancel: () => Promise.resolve() };
  const packing = PACKINGS.get(headers.get("content-encoding")?.trim().toLowerCase() ?? "");
  if (packing !== undefined) {
    // Nobody asked for it, but some upstreams compress all the same, and newer runtimes leave it packed.
    const reader = body.pipeThrough(new DecompressionStream(packing)).getReader();
    return { next: () => reader.read(), cancel: () => reader.cancel() };
  }
  const reader = body.getReader({ mode: "byob" });
  return {
    // Measured: one buffer for all reads moves twice what a buffer for each does.
    next: (used) => reader.read(new Uint8Array(used ?? new ArrayBuffer(READ))),
    cancel: () => reader.cancel(),
  };
}

/** Reads a body to its end; a fault when it is larger than `limit` bytes. */
export async function readAll(reader: BodyReader, limit: number): Promise<Result<Bytes>> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const piece = await reader.read();
    if (!piece.ok) return piece;
    if (piece.value === null) return success(joined(pieces, size));
    size += piece.value.length;
    if (size > limit) {
      await reader.cancel();
      return fault("upstream_response_too_large", "The provider's answer is too large.");
    }
    // The buffer of a read is used again by the next one.
    pieces.push(piece.value.slice());
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

function joined(pieces: readonly Uint8Array[], size: number): Bytes {
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
