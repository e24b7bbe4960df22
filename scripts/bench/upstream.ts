import { setImmediate } from "node:timers";
import {
  completion,
  completionStream,
  message,
  messagesStream,
  PACED_PIECE_COUNT,
  pacedEnd,
  pacedPiece,
  parseBehaviour,
  SHORT_STREAM_RECORDS,
  STREAM_RECORDS,
} from "./payloads.ts";
import { serveUntilStdinEnds } from "./serve.ts";

// The upstream of the benchmark. It responds immediately with bytes encoded at startup.

const streams = new Map([
  ["sse-1", completionStream(STREAM_RECORDS, 1)],
  ["sse-8", completionStream(STREAM_RECORDS, 8)],
  ["sse-short", completionStream(SHORT_STREAM_RECORDS, 1)],
]);
const slowStream = completionStream(SHORT_STREAM_RECORDS, 1);
const messages = messagesStream(STREAM_RECORDS);

/** The pause between two records of a slow stream. */
const SLOW_PAUSE_MS = 300;

/** The time until a slow response, and between two pieces of a paced stream. */
const SLOW_RESPONSE_MS = 20, PACE_MS = 20;

serveUntilStdinEnds(async (request) => {
  const body = await request.bytes();
  if (request.url.endsWith("/v1/traces")) return Response.json({});
  // A dashboard that accepts the request and never responds.
  if (request.url.includes("/silent/")) return await new Promise<Response>(() => {});
  const behaviour = parseBehaviour(body);
  if (request.url.endsWith("/messages")) {
    return behaviour === "json" ? jsonResponse(message) : streamResponse(messages);
  }
  if (behaviour === "sse-slow") return streamResponse(slowStream, afterPause);
  if (behaviour === "sse-paced") return pacedResponse();
  if (behaviour === "json-slow") {
    await new Promise((resolve) => setTimeout(resolve, SLOW_RESPONSE_MS));
  }
  const stream = streams.get(behaviour);
  return stream === undefined ? jsonResponse(completion) : streamResponse(stream);
});

function jsonResponse(body: Uint8Array<ArrayBuffer>): Response {
  return new Response(body, {
    headers: { "content-type": "application/json", "cache-control": "no-transform" },
  });
}

function inNextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function afterPause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, SLOW_PAUSE_MS));
}

/**
 * Returns a stream that sends each piece in a separate write, as a model sends its tokens. Without
 * the wait the runtime would join the pieces into one write, and a proxy would receive a whole
 * response.
 */
function streamResponse(pieces: readonly Uint8Array[], wait = inNextTurn): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await wait();
      const piece = pieces[at++];
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Returns a stream whose pieces are written at fixed times from its beginning on. */
function pacedResponse(): Response {
  const began = performance.now();
  let written = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const waitMs = began + ++written * PACE_MS - performance.now();
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (written <= PACED_PIECE_COUNT) return controller.enqueue(pacedPiece());
      controller.enqueue(pacedEnd);
      controller.close();
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
