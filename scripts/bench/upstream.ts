import { setImmediate } from "node:timers";
import {
  completion,
  completionStream,
  messagesStream,
  parseBehaviour,
  SHORT_STREAM_RECORDS,
  STREAM_RECORDS,
} from "./payloads.ts";
import { serveUntilStdinEnds } from "./serve.ts";

// The provider that is benched against: answers at once, from bytes that are made once.

const streams = new Map([
  ["sse-1", completionStream(STREAM_RECORDS, 1)],
  ["sse-8", completionStream(STREAM_RECORDS, 8)],
  ["sse-short", completionStream(SHORT_STREAM_RECORDS, 1)],
]);
const messages = messagesStream(STREAM_RECORDS);

serveUntilStdinEnds(async (request) => {
  const body = await request.bytes();
  // A dashboard that takes everything and never says so.
  if (request.url.includes("/silent/")) return await new Promise<Response>(() => {});
  if (request.url.endsWith("/messages")) return streamResponse(messages);
  const stream = streams.get(parseBehaviour(body));
  return stream === undefined
    ? new Response(completion, {
      headers: { "content-type": "application/json", "cache-control": "no-transform" },
    })
    : streamResponse(stream);
});

/**
 * Each piece leaves by itself, as the tokens of a model do. It has to be waited for: pieces that are
 * there at once are sent in one write, and then a proxy gets a whole answer instead of a stream.
 */
function streamResponse(pieces: readonly Uint8Array[]): Response {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const piece = pieces[at++];
      if (piece === undefined) controller.close();
      else controller.enqueue(piece);
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
