import {
  behaviourOf,
  completion,
  completionStream,
  messagesStream,
  RECORDS,
  SHORT,
} from "./payloads.ts";
import { serveUntilStdinEnds } from "./serve.ts";

// The provider that is benched against: answers at once, from bytes that are made once.

const streams = new Map([
  ["sse-1", completionStream(RECORDS, 1)],
  ["sse-8", completionStream(RECORDS, 8)],
  ["sse-short", completionStream(SHORT, 1)],
]);
const messages = messagesStream(RECORDS);

serveUntilStdinEnds(async (request) => {
  const body = await request.bytes();
  if (request.url.endsWith("/messages")) return streamed(messages);
  const stream = streams.get(behaviourOf(body));
  return stream === undefined
    ? new Response(completion, {
      headers: { "content-type": "application/json", "cache-control": "no-transform" },
    })
    : streamed(stream);
});

function streamed(pieces: readonly Uint8Array[]): Response {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}
