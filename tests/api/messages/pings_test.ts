import { assert, assertEquals } from "../../support/assert.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { scriptedWorld } from "../../support/world.ts";

const encoder = new TextEncoder();

/** A chunk of a Chat stream with this delta. */
function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${
    JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })
  }\n\n`;
}

/** A gateway over a stream whose bytes come when the test sends them. */
function silentUpstream() {
  const sender = Promise.withResolvers<ReadableByteStreamController>();
  const stream = new ReadableStream({ type: "bytes", start: sender.resolve });
  const headers = { "content-type": "text/event-stream" };
  const world = scriptedWorld({ fetch: () => Promise.resolve(new Response(stream, { headers })) });
  const { app } = testGateway(oneProvider("http://up.test", ", timeout: 10m"), world);
  return {
    world,
    post: (path: string, body: object) =>
      app(new Request(`http://localhost${path}`, { method: "POST", body: JSON.stringify(body) })),
    send: async (text: string) => (await sender.promise).enqueue(encoder.encode(text)),
    end: async () => (await sender.promise).close(),
  };
}

const messages = [{ role: "user", content: "Hi" }];

Deno.test("a translated stream is pinged after 15 s of silence, never before its first content", async () => {
  const { world, post, send, end } = silentUpstream();
  await world.advance(1_000);
  let response: Response | undefined;
  const answering = post("/v1/messages", { model: "m", max_tokens: 9, stream: true, messages })
    .then((got) => response = got);
  await send(chunk({ role: "assistant", content: "" }));
  await world.advance(60_000);
  assertEquals(response, undefined);
  await send(chunk({ content: "A" }));
  await answering;
  const reader = response?.body?.getReader();
  assert(reader !== undefined);
  const decoder = new TextDecoder();
  const read = async () => decoder.decode((await reader.read()).value);
  const first = await read();
  assertEquals(first.match(/^event: .*/gm), [
    "event: message_start",
    "event: content_block_start",
    "event: content_block_delta",
  ]);
  for (let count = 0; count < 3; count += 1) {
    const next = read();
    await world.advance(15_000);
    assertEquals(await next, 'event: ping\ndata: {"type":"ping"}\n\n');
  }
  await send(`${chunk({}, "stop")}data: [DONE]\n\n`);
  await end();
  await world.advance(1);
  assert((await read()).endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n'));
  assertEquals((await reader.read()).done, true);
  await world.advance(1_000);
  assertEquals(world.waiting, 0);
});

Deno.test("a stream of another API has no pings", async () => {
  const { world, post, send, end } = silentUpstream();
  await world.advance(1_000);
  const answering = post("/v1/chat/completions", { model: "m", stream: true, messages });
  await send(chunk({ content: "A" }));
  const response = await answering;
  await world.advance(60_000);
  await send(`${chunk({}, "stop")}data: [DONE]\n\n`);
  await end();
  await world.advance(1);
  assert(!(await response.text()).includes("ping"));
});
