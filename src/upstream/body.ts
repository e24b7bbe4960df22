import { failed, fault, type Result, success } from "../core/result.ts";
import type { BodySource, Incoming } from "../core/world.ts";
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
export function openBody(response: Incoming, watch: Watch): BodyReader {
  const reader = readerOf(response);
  let last: Bytes | undefined;
  // The runtime's fetch holds the signal weakly: once garbage is collected, an abort alone stops no body.
  watch.onCut(() => void cancelled(reader));

  return {
    async read() {
      try {
        watch.waits();
        const bytes = await reader.next(last?.buffer);
        if (bytes === null) {
          const reason = watch.reason();
          return reason === null ? END : failed(reason);
        }
        last = bytes;
        watch.hears();
        return success(bytes);
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
  next(used: ArrayBuffer | undefined): Promise<Bytes | null>;
  cancel(): Promise<void>;
}

/** Content codings in lower case; `x-gzip` is an old name (RFC 9110, section 8.4.1). */
const PACKINGS: ReadonlyMap<string, CompressionFormat> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "brotli"],
]);

function readerOf({ body, headers }: Incoming): RawReader {
  if (body === null) return { next: () => Promise.resolve(null), cancel: () => Promise.resolve() };
  const packing = PACKINGS.get(headers.get("content-encoding")?.trim().toLowerCase() ?? "");
  if (packing !== undefined) {
    // Nobody asked for it, but some upstreams compress all the same, and newer runtimes leave it packed.
    const stream = body instanceof ReadableStream ? body : streamOf(body);
    const reader = stream.pipeThrough(new DecompressionStream(packing)).getReader();
    return {
      next: async () => (await reader.read()).value ?? null,
      cancel: () => reader.cancel(),
    };
  }
  if (!(body instanceof ReadableStream)) return { next: body.read, cancel: body.cancel };
  const reader = body.getReader({ mode: "byob" });
  return {
    // Measured: one buffer for all reads moves twice what a buffer for each does.
    async next(used) {
      const { value } = await reader.read(new Uint8Array(used ?? new ArrayBuffer(READ)));
      return value === undefined || value.length === 0 ? null : value;
    },
    cancel: () => reader.cancel(),
  };
}

function streamOf(source: BodySource): ReadableStream<Bytes> {
  return new ReadableStream({
    async pull(controller) {
      const bytes = await source.read();
      if (bytes === null) controller.close();
      // Its buffer is used again.
      else controller.enqueue(bytes.slice());
    },
    cancel: source.cancel,
  }, { highWaterMark: 0 });
}

/** Reads a body to its end; a fault when it is larger than `limit` bytes. */
export async function readAll(reader: BodyReader, limit: number): Promise<Result<Bytes>> {
  const pieces: Bytes[] = [];
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

function joined(pieces: readonly Bytes[], size: number): Bytes {
  const [only, ...others] = pieces;
  if (only !== undefined && others.length === 0) return only;
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
