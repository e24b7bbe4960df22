import { assert, assertEquals } from "../../support/assert.ts";
import { chunk, silentUpstream } from "../../support/silent_upstream.ts";

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
