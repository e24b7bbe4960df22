import { Cancellation } from "../../src/core/cancellation.ts";
import { roundTrip } from "../../src/http_client/round_trip.ts";
import { newReadBuffer } from "../../src/http_client/read_buffer.ts";
import type { Incoming } from "../../src/core/world.ts";

/** An answer to its end. */
export interface Heard {
  readonly answer: Incoming;
  /** One character for each byte. */
  readonly body: string;
  /** State of the connection afterwards. */
  readonly fate: string;
}

/** Reads an answer that arrives in these pieces, of one byte for each character. */
export async function heard(pieces: readonly string[]): Promise<Heard> {
  const { line, fate } = scriptedLine(pieces);
  try {
    const answer = await roundTrip(line, [], { cancellation: new Cancellation() });
    return { answer, body: await textOf(answer), fate: fate() };
  } catch (error) {
    if (fate() !== "closed") throw new RangeError(`a broken connection is ${fate()}`);
    throw error;
  }
}

/** Returns the error of an answer; null for a valid one. */
export async function fault(...pieces: readonly string[]): Promise<string | null> {
  return await heard(pieces).then(() => null, (error: unknown) => {
    if (error instanceof RangeError) throw error;
    return error instanceof Error ? error.message : "";
  });
}

/** The text of a body, of one character for each byte; rejects when the body breaks off. */
export async function textOf({ body }: Incoming): Promise<string> {
  if (body === null || body instanceof ReadableStream) return "";
  let text = "";
  for (;;) {
    const bytes = await body.read();
    if (bytes === null) return text;
    text += Array.from(bytes, (code) => String.fromCharCode(code)).join("");
  }
}

/** A connection over which these pieces arrive, and then its end. */
function scriptedLine(pieces: readonly string[]) {
  const left = pieces.filter((piece) => piece !== "").map(bytesOf);
  let next = 0;
  let fate = "in use";
  const received = newReadBuffer({
    read(room) {
      const piece = left[next];
      if (piece === undefined) return Promise.resolve(null);
      const count = Math.min(piece.length, room.length);
      room.set(piece.subarray(0, count));
      if (count < piece.length) left[next] = piece.subarray(count);
      else next++;
      return Promise.resolve(count);
    },
  });

  function becomes(end: string) {
    return () => {
      fate = fate === "in use" ? end : `${fate}, then ${end}`;
    };
  }

  const write = () => Promise.resolve();
  return {
    line: {
      received,
      write,
      release: becomes("kept"),
      close: becomes("closed"),
      isOpen: () => fate === "in use",
    },
    fate: () => fate,
  };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
