import type { JsonObject } from "../core/json/json.ts";
import { jsonPieces } from "../core/json/json_pieces.ts";
import { utf8Bytes } from "../formats/utf8.ts";
import type { Cancellation } from "../core/cancellation.ts";
import { MAX_SMALL_RESPONSE_BYTES } from "../traffic/admission.ts";
import type { Pace } from "./pace.ts";
import { type BodyEnding, viewPieces } from "./stream_body.ts";
import type { Taking } from "./taking.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Yields the JSON of an object in pieces of `MAX_SMALL_RESPONSE_BYTES` or one element of a list.
 */
export function* writtenPieces(value: JsonObject): Generator<Bytes, void, void> {
  let text = "";
  for (const piece of jsonPieces(value)) {
    text += piece;
    if (text.length <= MAX_SMALL_RESPONSE_BYTES) continue;
    yield utf8Bytes(text);
    text = "";
  }
  if (text !== "") yield utf8Bytes(text);
}

/** The cancellation of the call, and the tasks of its response. */
export interface HeldBodyOptions {
  readonly cancellation: Cancellation;
  /** The pace at which pieces are made, if that is work; absent if they are there. */
  readonly pace?: Pace;
  readonly taking?: Taking | null;
  /** Called with the size of each piece when it is made. */
  onPiece?(bytes: number): void;
  /** Called once, when the runtime has all pieces or the response has ended early. */
  onEnd(ending: BodyEnding): void;
}

/**
 * Returns the pieces of a response as a body, none of them empty, each one made when the client has
 * taken the earlier ones. Cancelling the call fails the body, and cancelling the body disconnects
 * the client.
 */
export function heldBody(
  pieces: Iterator<Bytes, void>,
  { cancellation, pace = runNow, taking, onPiece, onEnd }: HeldBodyOptions,
): ReadableStream<Bytes> {
  let isOver = false;
  let bytes = 0;
  let unsubscribe = () => {};
  let views: Iterator<Bytes, void> = viewPieces(new Uint8Array());

  function end(isWhole: boolean) {
    if (isOver) return;
    isOver = true;
    unsubscribe();
    onEnd({ isWhole, bytes });
  }

  return new ReadableStream<Bytes>({
    start(controller) {
      unsubscribe = cancellation.onCancel(() => {
        if (isOver) return;
        controller.error(new Error("the response broke off"));
        end(false);
      });
    },
    pull(controller) {
      taking?.requested();
      if (write(controller)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      pace(() => {
        if (!isOver) makePiece(controller);
        resolve();
      });
      return promise;
    },
    cancel() {
      cancellation.clientDisconnected();
      end(false);
    },
  }, { highWaterMark: 0 });

  /** Writes a part of the piece that was made; returns false if all of it is written. */
  function write(controller: ReadableStreamDefaultController<Bytes>): boolean {
    const view = views.next();
    if (view.done === true) return false;
    bytes += view.value.byteLength;
    controller.enqueue(view.value);
    taking?.passed(false);
    return true;
  }

  function makePiece(controller: ReadableStreamDefaultController<Bytes>) {
    const next = pieces.next();
    if (next.done === true) {
      end(true);
      controller.close();
      return;
    }
    onPiece?.(next.value.byteLength);
    views = viewPieces(next.value);
    write(controller);
  }
}

function runNow(task: () => void): void {
  task();
}
