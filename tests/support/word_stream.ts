import { isObject, type JsonObject, parseJson } from "../../src/core/json/json.ts";
import { utf8Bytes } from "../../src/formats/utf8.ts";
import { streamOf } from "./pieces.ts";
import type { Fetch } from "./world.ts";

/** Requests to a compat upstream. */
export interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: JsonObject;
  /** Fires when the gateway gives the request up. */
  readonly signal: AbortSignal;
}

/** Streams of a compat upstream that live in the process. */
export interface WordStreams {
  readonly fetch: Fetch;
  /** Every request so far, in order. */
  readonly sent: readonly Sent[];
}

/** Answers every request with what `answer` makes of it. */
export function wordStreams(answer: (sent: Sent, count: number) => Promise<Response>): WordStreams {
  const all: Sent[] = [];
  return {
    sent: all,
    async fetch(url, init) {
      const body = parseJson(await new Response(init.body ?? null).text());
      const sent = {
        url,
        headers: new Headers(init.headers),
        body: isObject(body) ? body : {},
        signal: init.signal ?? new AbortController().signal,
      };
      all.push(sent);
      return await answer(sent, all.length);
    },
  };
}

/** A whole chat stream that says these words, a chunk each. */
export function saying(...words: readonly string[]): Promise<Response> {
  const chunks = [
    { role: "assistant", content: "" },
    ...words.map((content) => ({ content })),
  ].map((delta) => chunk(delta, null));
  const text = [...chunks, chunk({}, "stop"), "data: [DONE]\n\n"].join("");
  return Promise.resolve(streamed(streamOf([utf8Bytes(text)])));
}

/** A chat stream that is written by hand. */
export interface HeldStream {
  /** The answer to the request; it breaks off when the gateway gives the request up. */
  answer(sent: Sent): Promise<Response>;
  say(word: string): void;
  finish(): void;
  /** Resolves when the gateway gives the stream up. */
  readonly cancelled: Promise<void>;
}

/** A chat stream that waits for the test. */
export function heldStream(): HeldStream {
  const cancelled = Promise.withResolvers<void>();
  let write = (_text: string) => {};
  let close = () => {};
  let giveUp = () => {};
  const body = new ReadableStream({
    type: "bytes",
    start(controller) {
      write = (text) => controller.enqueue(utf8Bytes(text));
      close = () => {
        controller.close();
        controller.byobRequest?.respond(0);
      };
      giveUp = () => {
        controller.error(new DOMException("given up", "AbortError"));
        cancelled.resolve();
      };
    },
    cancel: () => cancelled.resolve(),
  });
  return {
    answer({ signal }) {
      signal.addEventListener("abort", giveUp, { once: true });
      return Promise.resolve(streamed(body));
    },
    say: (content) => write(chunk({ role: "assistant", content }, null)),
    finish() {
      write(`${chunk({}, "stop")}data: [DONE]\n\n`);
      close();
    },
    cancelled: cancelled.promise,
  };
}

function streamed(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function chunk(delta: JsonObject, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const head = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  return `data: ${JSON.stringify({ ...head, choices })}\n\n`;
}
