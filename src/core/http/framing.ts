import { chunkedFraming } from "./chunked.ts";
import type { Head } from "./head.ts";

/** Finds the body of an answer in what is received. Throws where the answer is malformed. */
export interface BodyFraming {
  /** Moves the body's bytes to the front of those given. */
  take(bytes: Uint8Array): Taken;
  /** The body has ended. */
  isOver(): boolean;
  /** The end of the connection is the end of the body. */
  readonly endsWithConnection: boolean;
}

/** What was found. */
export interface Taken {
  /** Bytes of the body, at the front. */
  readonly length: number;
  /** Bytes that are done with; the others are to be given again, with more behind them. */
  readonly used: number;
}

/** How the body of an answer is framed (RFC 9112, 6.3); the request was no HEAD. */
export function bodyFraming({ status, fields, isPersistent }: Head): BodyFraming {
  if (status === 204 || status === 304) return lengthFraming(0);
  // What follows is no HTTP, and nothing can come after it.
  if (status === 101) return openFraming();
  const coding = fields.get("transfer-encoding")?.toLowerCase();
  if (coding !== undefined) {
    // It came with HTTP/1.1: whoever says it in HTTP/1.0 may mean something else (RFC 9112, 6.1).
    if (coding === "chunked" && isPersistent) return chunkedFraming();
    throw new Error("the answer has an unknown transfer coding");
  }
  const length = fields.get("content-length");
  return length === undefined ? openFraming() : lengthFraming(lengthIn(length));
}

/** Whether the connection can carry another exchange once the body has ended. */
export function mayStayOpen({ fields, isPersistent }: Head): boolean {
  // Where both frame the body somebody on the way may have taken the other one.
  if (!isPersistent || (fields.has("transfer-encoding") && fields.has("content-length"))) {
    return false;
  }
  const options = fields.get("connection")?.toLowerCase() ?? "";
  return !options.split(",").some((option) => option.trim() === "close");
}

/** Sent twice it still has to be one. */
function lengthIn(value: string): number {
  const lengths = new Set(value.split(",").map((one) => one.trim()));
  const [length = ""] = lengths;
  if (lengths.size > 1 || !/^\d{1,15}$/.test(length)) {
    throw new Error("the answer has a malformed length");
  }
  return Number(length);
}

function lengthFraming(length: number): BodyFraming {
  let left = length;
  return {
    take(bytes) {
      const count = Math.min(left, bytes.length);
      left -= count;
      return { length: count, used: count };
    },
    isOver: () => left === 0,
    endsWithConnection: false,
  };
}

function openFraming(): BodyFraming {
  return {
    take: ({ length }) => ({ length, used: length }),
    isOver: () => false,
    endsWithConnection: true,
  };
}
