import { serveUntilStdinEnds } from "./serve.ts";

// A provider of the Responses API whose responses are far larger than the buffers of a connection.

const RESPONSE_EVENT_COUNT = 600, DELTA_CHARS = 4_000;

const encoder = new TextEncoder();
const text = "x".repeat(DELTA_CHARS);

serveUntilStdinEnds(async (request) => {
  await request.body?.cancel();
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at > RESPONSE_EVENT_COUNT) controller.close();
      else controller.enqueue(encoder.encode(encodeEventAt(at++)));
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
});

function encodeEventAt(at: number): string {
  if (at === 0) return lifecycleEvent("response.created", at, "in_progress");
  if (at === RESPONSE_EVENT_COUNT) return lifecycleEvent("response.completed", at, "completed");
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  return encodeEvent("response.output_text.delta", at, { ...place, delta: text });
}

function lifecycleEvent(type: string, at: number, status: string): string {
  const response = { id: "resp_bench", object: "response", status, model: "bench", output: [] };
  return encodeEvent(type, at, { response });
}

function encodeEvent(type: string, at: number, fields: Record<string, unknown>): string {
  const data = JSON.stringify({ type, sequence_number: at, ...fields });
  return `event: ${type}\ndata: ${data}\n\n`;
}
