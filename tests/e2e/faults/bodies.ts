import {
  type ConnectionCause,
  ConnectionError,
} from "../../../src/core/failure/connection_error.ts";
import type { BodySource, Incoming } from "../../../src/core/world.ts";
import type { BrokenRequest, Phase } from "./break.ts";
import type { Column, ProviderType } from "./columns.ts";

/** Returns an error as a provider of this type writes it. */
export function errorText(type: ProviderType): string {
  const error = { type: "api_error", message: "It broke." };
  if (type === "messages") return JSON.stringify({ type: "error", error });
  return JSON.stringify({ error: type === "local" ? error.message : { ...error, code: null } });
}

/** Returns the data of an error event. */
export function eventError(type: ProviderType): string {
  return type === "native"
    ? JSON.stringify({ type: "error", code: "server_error", message: "It broke.", param: null })
    : errorText(type);
}

/** Returns a record in the framing of the provider. */
export function record({ type }: Column, data: string, event = "content_block_delta"): string {
  if (type === "local") return `${data}\n`;
  return type === "messages" ? `event: ${event}\ndata: ${data}\n\n` : `data: ${data}\n\n`;
}

/** Divides an answer into its records, or into bytes from the first and the second half. */
export function piecesOf(column: Column, text: string): readonly string[] {
  if (hasRecords(column)) {
    const separator = column.type === "local" ? "\n" : "\n\n";
    return text.split(separator).filter((one) => one !== "").map((one) => one + separator);
  }
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

/** True if the answer is a stream of records. */
export function hasRecords({ delivery }: Column): boolean {
  return delivery === "stream" || delivery === "WebSocket";
}

/** Returns the number of pieces that come before the break. */
export function placeOf(phase: Phase, pieces: readonly string[], column: Column): number {
  const first = hasRecords(column) ? pieces.findIndex((piece) => piece.includes("Alpha")) : 0;
  switch (phase) {
    case "before the first content":
      return first;
    case "within the content":
      return first + (hasRecords(column) ? 3 : 1);
    case "before the end marker":
      return pieces.length - 1;
    case "at the end":
      return pieces.length;
    default:
      return 0;
  }
}

/** End of a body: orderly (`close`), with silence, or with the cause of a connection that broke. */
export type BodyEnd = "close" | "silence" | ConnectionCause;

/** Returns a body of these pieces that ends in this way. It is read as that of a connection is. */
export function bodyOf(
  texts: readonly Uint8Array<ArrayBuffer>[],
  end: BodyEnd,
  { signal, fallSilent = () => {} }: Pick<BrokenRequest, "signal"> & Partial<BrokenRequest>,
): BodySource {
  const waiting = [...texts];
  return sourceOf(signal, async (aborted) => {
    const next = waiting.shift();
    if (next !== undefined || end === "close") return next ?? null;
    if (end !== "silence") {
      throw new ConnectionError(end, "broken", { mayHaveRun: true, isAnswered: true });
    }
    fallSilent();
    return await aborted;
  });
}

/** Returns a body whose pieces `next` returns, until it returns null or the request is aborted. */
export function sourceOf(
  signal: AbortSignal,
  next: (aborted: Promise<never>) => Promise<Uint8Array<ArrayBuffer> | null>,
): BodySource {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  aborted.catch(() => {});
  signal.addEventListener("abort", () => reject(signal.reason));
  return {
    async read() {
      signal.throwIfAborted();
      return await next(aborted);
    },
    cancel: () => Promise.resolve(),
  };
}

/** Returns an answer with this body, which a `Response` cannot have. */
export function answerOf(
  body: BodySource,
  { status = 200, headers }: Partial<Response>,
): Incoming {
  return { status, headers: headers ?? new Headers(), body };
}
