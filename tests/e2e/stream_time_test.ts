import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";
import { callChat, plainConfig } from "./chat_call.ts";
import { assertRefused, delivered } from "./delivered.ts";
import { type HeldUpstream, heldUpstream } from "./held_upstream.ts";
import { finish, HELLO, ROLE, sse } from "./streamed.ts";

interface Stage {
  readonly gateway: TestGateway;
  readonly upstream: HeldUpstream;
  readonly world: ScriptedWorld;
  /** Whether the call has an answer by now. */
  isAnswered(): boolean;
  readonly response: Promise<Response>;
}

function begun(settings: string, stream = true): Stage {
  const upstream = heldUpstream();
  const world = scriptedWorld({ fetch: upstream.fetch });
  const gateway = testGateway(plainConfig("compat", "http://upstream.test", settings), world);
  let isAnswered = false;
  const response = callChat(gateway, { stream }).then((response) => {
    isAnswered = true;
    return response;
  });
  return { gateway, upstream, world, isAnswered: () => isAnswered, response };
}

/** The upstream sends the first content, which is delivered. */
async function deliver({ upstream, response }: Stage): Promise<void> {
  upstream.answer();
  upstream.send(sse(ROLE, HELLO));
  await response;
}

/**
 * The call ended as a timeout before anything was delivered, and the upstream request was
 * cancelled.
 */
async function assertTimedOut({ gateway, upstream, world, response }: Stage): Promise<void> {
  const { status, text } = await read(response);
  assertRefused(status, text, 504, /^upstream_timeout$/);
  assert(text.includes('"type":"upstream_timeout"'), text);
  assertEquals(endOf(await gateway.reported(1)), "upstream_timeout");
  assert(upstream.isBrokenOff);
  assertEquals(world.waiting, 0, "no clock is left running");
}

/** The stream broke after delivery, and the upstream request was cancelled. */
async function assertBroken({ gateway, upstream, world, response }: Stage, end: string) {
  const { text } = await read(response);
  assertEquals(delivered(text).ending, "broken");
  assertEquals(delivered(text).texts, [ROLE, HELLO].map((value) => JSON.stringify(value)));
  assertEquals<string>(endOf(await gateway.reported(1)), end);
  assert(upstream.isBrokenOff);
  assertEquals(world.waiting, 0, "no clock is left running");
}

async function read(response: Promise<Response>) {
  const { status, body } = await response;
  return { status, text: await new Response(body).text() };
}

/** The rest of the stream arrives, and it is complete. */
async function assertComplete({ gateway, upstream, world, response }: Stage): Promise<void> {
  upstream.send(sse(finish(), "[DONE]"));
  upstream.end();
  assertEquals(delivered((await read(response)).text).ending, "complete");
  assertEquals(endOf(await gateway.reported(1)), "complete");
  assertEquals(upstream.isBrokenOff, false);
  assertEquals(world.waiting, 0, "no clock is left running");
}

Deno.test("comments and chunks without content are buffered until the first content", async () => {
  const stage = begun("");
  const { upstream, world } = stage;
  const dropped = ["event: ping\n\n", "data:\n\n"];
  const prelude = [": connected\n\n", sse(ROLE), ...dropped, sse(ROLE)];
  upstream.answer();
  for (const text of prelude) {
    upstream.send(text);
    await world.advance(1_000);
    assertEquals(stage.isAnswered(), false, text);
  }
  upstream.send(sse(HELLO));
  const response = await stage.response;
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader?.read())?.value, ": connected\n\n" + sse(ROLE, ROLE, HELLO));
  upstream.send(sse(finish(), "[DONE]"));
  upstream.end();
  assertEquals((await reader?.read())?.value, sse(finish(), "[DONE]"));
  assertEquals((await reader?.read())?.done, true);
});

Deno.test("silence before delivery longer than stream_idle_timeout is a timeout", async () => {
  const stage = begun(", stream_idle_timeout: 5s");
  const { upstream, world } = stage;
  await world.advance(60_000);
  upstream.answer();
  await world.advance(30_000);
  upstream.send(sse(ROLE));
  await world.advance(4_900);
  upstream.send(": still here\n\n");
  await world.advance(4_900);
  assertEquals(stage.isAnswered(), false, "silence counts from the last byte on");
  await world.advance(200);
  await assertTimedOut(stage);
});

Deno.test("silence after delivery longer than stream_idle_timeout breaks the stream", async () => {
  const stage = begun(", stream_idle_timeout: 5s");
  const { upstream, world } = stage;
  await deliver(stage);
  await world.advance(4_900);
  assertEquals(upstream.isBrokenOff, false);
  await world.advance(200);
  await assertBroken(stage, "stream_idle");
});

Deno.test("a stream whose pauses are shorter than stream_idle_timeout is never cut", async () => {
  const stage = begun(", stream_idle_timeout: 5s, timeout: 10s");
  const { upstream, world } = stage;
  await deliver(stage);
  for (let round = 0; round < 10; round++) {
    await world.advance(4_900);
    upstream.send(": keepalive\n\n");
  }
  await assertComplete(stage);
});

Deno.test("the timeout covers the wait for status and headers", async () => {
  for (const mode of ["ttft", "total"]) {
    for (const stream of [false, true]) {
      const stage = begun(`, timeout: 10s, timeout_mode: ${mode}`, stream);
      await stage.world.advance(9_900);
      assertEquals(stage.isAnswered(), false);
      await stage.world.advance(200);
      await assertTimedOut(stage);
    }
  }
});

Deno.test("the timeout covers the wait for the first byte of the body", async () => {
  for (const mode of ["ttft", "total"]) {
    const stage = begun(`, timeout: 10s, timeout_mode: ${mode}`);
    stage.upstream.answer();
    await stage.world.advance(10_100);
    await assertTimedOut(stage);
  }
});

Deno.test("timeout_mode ttft does not limit a stream after its first byte", async () => {
  const stage = begun(", timeout: 10s, timeout_mode: ttft");
  const { upstream, world } = stage;
  await world.advance(6_000);
  upstream.answer();
  upstream.send(sse(ROLE));
  await world.advance(60_000);
  assertEquals(stage.isAnswered(), false);
  upstream.send(sse(HELLO));
  await stage.response;
  await world.advance(299_900);
  await assertComplete(stage);
});

Deno.test("the default stream_idle_timeout is 300 s", async () => {
  const stage = begun("");
  const { upstream, world } = stage;
  await deliver(stage);
  await world.advance(299_900);
  assertEquals(upstream.isBrokenOff, false);
  await world.advance(200);
  await assertBroken(stage, "stream_idle");
});

Deno.test("stream_idle_timeout applies within the body of an unstreamed response", async () => {
  for (const mode of ["ttft", "total"]) {
    for (const [setting, limit] of [["", 300_000], [", stream_idle_timeout: 5s", 5_000]] as const) {
      const stage = begun(`, timeout: 2h, timeout_mode: ${mode}${setting}`, false);
      const { upstream, world } = stage;
      await world.advance(600_000);
      upstream.answer("application/json");
      upstream.send('{"choices":');
      for (let count = 0; count < 3; count++) {
        await world.advance(limit - 100);
        upstream.send(" ");
      }
      await world.advance(limit - 100);
      assertEquals(stage.isAnswered(), false);
      await world.advance(200);
      await assertTimedOut(stage);
    }
  }
});

Deno.test("stream_idle_timeout applies within the body of an error", async () => {
  const stage = begun(", stream_idle_timeout: 3s", false);
  const { upstream, world } = stage;
  upstream.answer("application/json", 500);
  upstream.send('{"error":');
  await world.advance(2_900);
  assertEquals(stage.isAnswered(), false);
  await world.advance(200);
  await assertTimedOut(stage);
});

Deno.test("timeout_mode total breaks a stream that outlasts the timeout", async () => {
  const stage = begun(", timeout: 10s, timeout_mode: total");
  const { upstream, world } = stage;
  await world.advance(6_000);
  await deliver(stage);
  await world.advance(3_900);
  assertEquals(upstream.isBrokenOff, false);
  await world.advance(200);
  await assertBroken(stage, "stream_broken");
});

Deno.test("timeout_mode total covers a JSON answer to its end, ttft to its first byte", async () => {
  const stage = begun(", timeout: 10s, timeout_mode: total", false);
  stage.upstream.answer("application/json");
  stage.upstream.send('{"choices":');
  await stage.world.advance(10_100);
  await assertTimedOut(stage);

  const patient = begun(", timeout: 10s, timeout_mode: ttft", false);
  patient.upstream.answer("application/json");
  patient.upstream.send('{"choices":');
  await patient.world.advance(60_000);
  patient.upstream.send('[{"index":0,"message":{"role":"assistant","content":"Hi"}}]}');
  patient.upstream.end();
  assertEquals((await patient.response).status, 200);
  assertEquals(endOf(await patient.gateway.reported(1)), "complete");
});

Deno.test("the time that a client takes to read does not count as silence of the upstream", async () => {
  const stage = begun(", stream_idle_timeout: 5s");
  const { upstream, world } = stage;
  await deliver(stage);
  for (let count = 0; count < 20; count++) {
    upstream.send(sse(HELLO));
    await world.advance(10);
  }
  await world.advance(600_000);
  assertEquals(upstream.isBrokenOff, false);
  await assertComplete(stage);
});
