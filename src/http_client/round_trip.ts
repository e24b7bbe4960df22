import { ConnectionError } from "../core/connection_error.ts";
import { DEFAULT_TRANSPORT } from "../core/transport.ts";
import type { BodySource, Incoming, Outgoing } from "../core/world.ts";
import { keepAliveMs, newBodyFraming } from "./framing.ts";
import { readHead } from "./head.ts";
import type { Connection } from "./connection_pool.ts";

/**
 * Sends one request and reads its answer, of which the body comes as it is read. The connection is
 * given back when the body was read to its end and nothing went amiss; in every other case it is
 * closed. Every failure is a `ConnectionError`.
 */
export async function roundTrip(
  line: Connection,
  parts: readonly Uint8Array[],
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
  // Read at the same time: who refuses a body may not wait for the rest of it.
  if (isOpen()) void writeParts(line, parts).then((isWhole) => void (isSent = isWhole));
  try {
    const head = await readHead(received);
    const framing = newBodyFraming(head);
    const body = bodyOf(framing, () => keepAliveMs(head, transport.keepAliveMs));
    return { status: head.status, headers: newFieldReader(head.fields), body };
  } catch (error) {
    throw broken(error);
  }

  /** The error of an exchange that fails now. */
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
    // What is left was not asked for. It could be taken for the next answer.
    if (rest > 0 && isSent && received.bytes().length === 0) line.release(rest);
    else line.close();
    return null;
  }

  function bodyOf(framing: ReturnType<typeof newBodyFraming>, rest: () => number): BodySource {
    async function next(): Promise<Uint8Array<ArrayBuffer> | null> {
      for (;;) {
        if (state === "ended") return null;
        if (state === "broken") throw new Error("the answer was given up");
        if (framing.isOver()) return end(framing.isExact() ? rest() : 0);
        const bytes = received.bytes();
        const { length, used } = framing.take(bytes);
        received.take(used);
        if (length > 0) return bytes.subarray(0, length);
        if (framing.isOver() || await received.more()) continue;
        // Where this side has ended it that says nothing about the answer.
        if (!framing.endsWithConnection || !line.isOpen()) {
          throw new Error("the connection ended before the answer");
        }
        return end(0);
      }
    }

    return {
      async read() {
        try {
          return await next();
        } catch (error) {
          throw broken(error);
        }
      },
      cancel() {
        // What is left would have to be read before the connection could be used again.
        giveUp();
        return Promise.resolve();
      },
    };
  }
}

/** What the parsers throw says what is wrong with the text; it may also just have ended too early. */
function describeError(
  error: unknown,
  hasEnded: boolean,
): Pick<ConnectionError, "kind" | "message"> {
  if (error instanceof ConnectionError) return error;
  const message = error instanceof Error ? error.message : "the answer cannot be read";
  return { kind: hasEnded ? "closed" : "malformed", message };
}

/** Whether the whole request went. It stands outside, so that an answer does not keep it in memory. */
async function writeParts({ write }: Connection, parts: readonly Uint8Array[]): Promise<boolean> {
  try {
    for (const part of parts) await write(part);
    return true;
  } catch {
    // Who refuses a body may have answered all the same. Where not, reading fails too.
    return false;
  }
}

function newFieldReader(fields: ReadonlyMap<string, string>): Incoming["headers"] {
  return {
    get: (name) => fields.get(name) ?? null,
    [Symbol.iterator]: () => fields.entries(),
  };
}
