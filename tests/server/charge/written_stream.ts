/** A stream of one attempt that the test writes part by part. */
export function newStream(signal: AbortSignal | null | undefined, contentType: string) {
  let controller: ReadableByteStreamController | null = null;
  let isOpen = true;
  const body = new ReadableStream({
    type: "bytes",
    start(given) {
      controller = given;
      signal?.addEventListener("abort", () => {
        if (isOpen) given.error(new TypeError("aborted"));
        isOpen = false;
      });
    },
    cancel() {
      isOpen = false;
    },
  });
  return {
    response: new Response(body, { headers: { "content-type": contentType } }),
    /** Returns whether the gateway still reads. */
    write(text: string): boolean {
      if (isOpen && text !== "") controller?.enqueue(new TextEncoder().encode(text));
      return isOpen;
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      controller?.close();
      // A waiting BYOB read ends only when its request is answered.
      controller?.byobRequest?.respond(0);
    },
    fail() {
      if (isOpen) controller?.error(new TypeError("cut"));
      isOpen = false;
    },
  };
}
