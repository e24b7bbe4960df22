import { ConnectionError } from "../core/failure/connection_error.ts";
import { DEFAULT_TRANSPORT } from "../core/transport.ts";
import type { BodySource, FieldReader, Incoming, Outgoing } from "../core/world.ts";
import { keepAliveMs, newBodyFraming } from "./framing.ts";
import { readHead } from "./head.ts";
import type { Connection } from "./connection_pool.ts";
import { reuseParts } from "./request.ts";

/**
 * Sends one request and returns its response with a body that streams. The connection returns to
 * the pool if the body was read to its end without an error; otherwise it is closed. Every failure
 * is a `ConnectionError`.
 */
export async function roundTrip(
  line: Connection,
  parts: readonly Uint8Array<ArrayBuffer>[],
  { cancellation, transport = DEFAULT_TRANSPORT }: Pick<Outgoing, "cancellation" | "transport">,
): Promise<Incoming> {
  const { received } = line;
  let state: "open" | "ended" | "broken" = "open";
  let unsubscribe = () => {};
  let isSent = false;
  const before = received.total();

  function giveUp() {
    if (state !== "open") return;
    state = "broken";
    unsubscribe();
    line.close();
  }

  unsubscribe = cancellation.onCancel(giveUp);
  // The response is read while the request is written: a server that refuses a body may not wait
  // for the rest of it.
  if (isOpen()) void writeParts(line, parts).then((isWhole) => void (isSent = isWhole));
  try {
    const head = await readHead(received);
    const framing = newBodyFraming(head);
    const body = bodyOf(framing, () => keepAliveMs(head, transport.keepAliveMs));
    return { status: head.status, headers: new Fields(head.fields), body };
  } catch (error) {
    throw broken(error);
  }

  /** Closes the connection and returns the error of the request. */
  function broken(error: unknown): ConnectionError {
    const isOurs = !isOpen() || !line.isOpen();
    giveUp();
    const isAnswered = received.total() > before;
    const { kind, message } = describeError(error, received.hasEnded());
    return new ConnectionError(isOurs ? "aborted" : kind, message, {
      mayHaveRun: true,
      isAnswered,
    });
  }

  function isOpen(): boolean {
    return state === "open";
  }

  function end(rest: number): null {
    state = "ended";
    unsubscribe();
    if (isSent) reuseParts(parts);
    // Extra bytes after the response could be taken for the next response.
    if (rest > 0 && isSent && received.bytes().length === 0) line.release(rest);
    else line.close();
    return null;
  }

  function bodyOf(framing: ReturnType<typeof newBodyFraming>, rest: () => number): BodySource {
    return {
      // One function instead of two: each one that awaits costs a small response a promise.
      async read() {
        try {
          for (;;) {
            if (state === "ended") return null;
            if (state === "broken") throw new Error("the response was given up");
            if (framing.isOver()) return end(framing.isExact() ? rest() : 0);
            const bytes = received.bytes();
            const { length, used } = framing.take(bytes);
            received.take(used);
            if (length > 0) return bytes.subarray(0, length);
            if (framing.isOver() || await received.more()) continue;
            // If this side closed the connection, its end does not show the end of the response.
            if (!framing.endsWithConnection || !line.isOpen()) {
              throw new Error("the connection ended before the response");
            }
            return end(0);
          }
        } catch (error) {
          throw broken(error);
        }
      },
      cancel() {
        // The rest of the body would have to be read before the connection could be reused.
        giveUp();
        return Promise.resolve();
      },
    };
  }
}

/**
 * Returns the kind and message of a parser error. At the end of the connection the response was cut
 * off, not malformed.
 */
function describeError(
  error: unknown,
  hasEnded: boolean,
): Pick<ConnectionError, "kind" | "message"> {
  if (error instanceof ConnectionError) return error;
  const message = error instanceof Error ? error.message : "the response cannot be read";
  return { kind: hasEnded ? "closed" : "malformed", message };
}

/**
 * True if the whole request was written. A top-level function, so that a response does not hold the
 * request in memory.
 */
async function writeParts(
  { write }: Connection,
  parts: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> {
  try {
    for (const part of parts) {
      const { length } = part;
      await write(part);
      // The memory of a body is freed when its call ends: then the rest of the body is not there to
      // write.
      if (part.length !== length || length === 0 && part.buffer.detached) return false;
    }
    return true;
  } catch {
    // A server that refuses a body may still have sent a response. If not, reading fails too.
    return false;
  }
}

/**
 * The header fields of a response. A class: an object with a method of a computed name costs ten
 * times as much.
 */
class Fields implements FieldReader {
  readonly #fields: ReadonlyMap<string, string>;

  constructor(fields: ReadonlyMap<string, string>) {
    this.#fields = fields;
  }

  get(name: string): string | null {
    return this.#fields.get(name) ?? null;
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.#fields.entries();
  }
}
