import { oneProvider, testGateway } from "./gateway.ts";
import { scriptedWorld } from "./world.ts";

const encoder = new TextEncoder();

/** A chunk of a Chat stream with this delta. */
export function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${
    JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })
  }\n\n`;
}

/** A gateway over a stream whose bytes come when the test sends them. */
export function silentUpstream(config = oneProvider("http://up.test", ", timeout: 10m")) {
  const sender = Promise.withResolvers<ReadableByteStreamController>();
  const stream = new ReadableStream({ type: "bytes", start: sender.resolve });
  const headers = { "content-type": "text/event-stream" };
  const world = scriptedWorld({ fetch: () => Promise.resolve(new Response(stream, { headers })) });
  const { app } = testGateway(config, world);
  return {
    world,
    post: (path: string, body: object) =>
      app(new Request(`http://localhost${path}`, { method: "POST", body: JSON.stringify(body) })),
    send: async (text: string) => (await sender.promise).enqueue(encoder.encode(text)),
    end: async () => (await sender.promise).close(),
  };
}
