import type { Fetch } from "../support/world.ts";

/** An upstream in the process that does only what the test says; one call. */
export interface HeldUpstream {
  readonly fetch: Fetch;
  /** Sends status 200, or another one, and headers. */
  answer(contentType?: string, status?: number): void;
  send(text: string): void;
  end(): void;
  /** True once the gateway has broken the call off. */
  readonly isBrokenOff: boolean;
}

/** Holds its response back until released; aborts like the real fetch. */
export function heldUpstream(): HeldUpstream {
  const answered = Promise.withResolvers<Response>();
  const encoder = new TextEncoder();
  let isBrokenOff = false;
  let into: ReadableByteStreamController | undefined;
  const body = new ReadableStream({
    type: "bytes",
    start(controller) {
      into = controller;
    },
    cancel() {
      isBrokenOff = true;
    },
  });

  return {
    fetch(_url, { signal }) {
      signal?.addEventListener("abort", () => {
        if (isBrokenOff) return;
        isBrokenOff = true;
        answered.reject(signal.reason);
        into?.error(signal.reason);
      });
      return answered.promise;
    },
    answer(contentType = "text/event-stream", status = 200) {
      answered.resolve(new Response(body, { status, headers: { "content-type": contentType } }));
    },
    send: (text) => into?.enqueue(encoder.encode(text)),
    end() {
      into?.close();
      into?.byobRequest?.respond(0);
    },
    get isBrokenOff() {
      return isBrokenOff;
    },
  };
}
