import { type BodyStep, newBodyStream } from "../../src/simulator/body_stream.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";
import { callSimulator } from "./call_simulator.ts";

const PATHS = ["/compat/v1/chat/completions", "/messages/v1/messages", "/local/api/chat"] as const;

function body(model: string, stream: boolean) {
  return { model, stream, max_tokens: 100, messages: [{ role: "user", content: "a b c" }] };
}

Deno.test("sim-slow pauses before the first byte and before each further word", async () => {
  for (const path of PATHS) {
    const world = scriptedWorld();
    const response = await callSimulator(path, body("sim-slow-500", true), {}, world);
    let text = "";
    const decoder = new TextDecoder();
    const read = (async () => {
      for await (const bytes of response.body ?? []) text += decoder.decode(bytes);
    })();
    await world.advance(499);
    assertEquals(text, "");
    await world.advance(1);
    assert(text.includes('"a"') && !text.includes('" b"'));
    await world.advance(500);
    assert(text.includes('" b"') && !text.includes('" c"'));
    await world.advance(500);
    await read;
    assert(text.includes('" c"'));
    assertEquals(world.waiting, 0);
  }
});

Deno.test("a whole response of sim-slow takes as long as its stream", async () => {
  const world = scriptedWorld();
  let answered = false;
  const answer = callSimulator(PATHS[0], body("sim-slow", false), {}, world).finally(() =>
    answered = true
  );
  await world.advance(299);
  assertEquals(answered, false);
  await world.advance(1);
  assertEquals((await answer).status, 200);
});

Deno.test("a stream that is cancelled during a pause clears its timer", async () => {
  for (const path of PATHS) {
    const world = scriptedWorld();
    const response = await callSimulator(path, body("sim-slow", true), {}, world);
    const reader = response.body?.getReader();
    const read = reader?.read();
    await world.advance(0);
    assertEquals(world.waiting, 1);
    await reader?.cancel();
    assertEquals(world.waiting, 0);
    assertEquals((await read)?.done, true);
  }
});

Deno.test("a client disconnect during a slow whole response clears its timer", async () => {
  const world = scriptedWorld();
  const gone = new AbortController();
  const init = { signal: gone.signal };
  const answer = callSimulator(PATHS[0], body("sim-slow", false), init, world);
  await world.advance(0);
  assertEquals(world.waiting, 1);
  gone.abort();
  assertEquals(world.waiting, 0);
  await answer;
});

Deno.test("sim-broken-silent sends some words and then nothing until the stream is cancelled", async () => {
  for (const path of PATHS) {
    for (const stream of [true, false]) {
      const world = scriptedWorld();
      const response = await callSimulator(path, body("sim-broken-silent", stream), {}, world);
      const reader = response.body?.getReader();
      let reads = 0;
      const read = (async () => {
        while (!(await reader?.read())?.done) reads++;
      })();
      await world.advance(60_000);
      assert(reads > 0);
      const before = reads;
      await world.advance(60_000);
      assertEquals(reads, before);
      await reader?.cancel();
      await read;
    }
  }
});

Deno.test("a body stream makes no step before it is read and one step per read", async () => {
  let taken = 0;
  function* steps(): Generator<BodyStep> {
    for (;;) {
      taken++;
      yield { kind: "send", text: "word" };
    }
  }
  const reader = newBodyStream(steps(), scriptedWorld()).getReader();
  assertEquals(taken, 0);
  await reader.read();
  await reader.read();
  assertEquals(taken, 2);
  await reader.cancel();
});

Deno.test("the same request gives the same response bytes", async () => {
  const models = ["sim-echo", "sim-think", "sim-json", "sim-broken-half", "sim-embed"];
  for (const path of PATHS) {
    for (const model of models) {
      const [first, second] = await Promise.all([0, 1].map(async () => {
        return await (await callSimulator(path, body(model, true))).text();
      }));
      assertEquals(first, second);
    }
  }
});
