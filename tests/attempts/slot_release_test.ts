import { endOf } from "../../src/observe/report.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { chatRequest, verdictOf } from "../support/chat_call.ts";
import { streamOf } from "../support/pieces.ts";
import { type HeldCall, type HeldGateway, heldGateway, type Setting } from "./held_calls.ts";
import { STREAM } from "./two_targets.ts";

const LIMITED = "max_concurrent: 1, max_queued: 5";

/** Text of a stream that has begun and is not over. */
const BEGUN = STREAM[0]?.replace('"stop"', "null") ?? "";

/** A body that gives this text and then stays open until it is finished. */
function openStream(text: string) {
  const encoder = new TextEncoder();
  const stream = Promise.withResolvers<ReadableByteStreamController>();
  const body = new ReadableStream({
    type: "bytes",
    start(controller) {
      controller.enqueue(encoder.encode(text));
      stream.resolve(controller);
    },
  });
  return {
    body,
    async finish(last: string) {
      const controller = await stream.promise;
      controller.enqueue(encoder.encode(last));
      controller.close();
    },
  };
}

/** Asserts that the provider has its only slot again. */
async function assertFree(held: HeldGateway): Promise<void> {
  assertEquals(await held.counts("a"), [0, 0]);
  const next = held.asked();
  await held.world.advance(0);
  held.oldest().answer();
  assertEquals((await next).status, 200);
}

/** Plays one call with this end of its upstream call, and asserts that its slot is given back. */
async function played(
  end: (call: HeldCall) => void,
  setting: Setting = {},
  body: Parameters<typeof chatRequest>[0] = {},
) {
  const held = heldGateway({ a: LIMITED, ...setting });
  const call = held.asked(body);
  await held.world.advance(0);
  assertEquals(await held.counts("a"), [1, 0]);
  end(held.oldest());
  const answer = await call;
  await assertFree(held);
  return answer;
}

Deno.test("a slot is released after a whole response, after an error response and after no response at all", async () => {
  assertEquals((await played((call) => call.answer())).status, 200);
  assertEquals((await played((call) => call.answer(400, "no"))).status, 400);
  assertEquals((await played((call) => call.answer(500, "no"))).status, 500);
  assertEquals((await played((call) => call.answer(302, ""))).status, 502);
  assertEquals((await played((call) => call.answer(200, "<html>"))).status, 502);
});

/** Begins a stream whose upstream stays open after its first content. */
async function begunStream(held: HeldGateway) {
  const response = held.app(chatRequest({ body: { stream: true } }));
  await held.world.advance(0);
  const { body, finish } = openStream(BEGUN);
  held.oldest().respond(body);
  return { response: await response, finish };
}

Deno.test("a slot is released at the last byte of a stream, not at its first", async () => {
  const held = heldGateway({ a: LIMITED });
  const { response, finish } = await begunStream(held);
  const waiting = held.asked();
  await held.world.advance(20_000);
  assertEquals([held.running(), await held.counts("a")], [[], [1, 1]]);
  await finish(STREAM.join(""));
  assert((await response.text()).endsWith("data: [DONE]\n\n"));
  await held.world.advance(0);
  held.oldest().answer();
  assertEquals((await waiting).status, 200);
  await assertFree(held);
});

Deno.test("a stream that is complete, broken or never begins releases its slot", async () => {
  const body = { body: { stream: true } };
  const whole = await played((call) => call.answer(), {}, body);
  assert(whole.text.endsWith("data: [DONE]\n\n"));
  const broken = await played((call) => call.answer(200, BEGUN), {}, body);
  assert(broken.text.includes("upstream_stream_error"));
  const none = await played((call) => call.answer(200, "data: {}\n\n"), {}, body);
  assertEquals(none.status, 502);
  const garbage = await played(
    (call) => call.respond(streamOf([new Uint8Array([0xff, 0x0a])])),
    {},
    body,
  );
  assertEquals(garbage.status, 502);
});

Deno.test("a bug releases the slot", async () => {
  // A body that is no byte stream cannot be opened: it throws where nothing is expected to.
  const answer = await played((call) => call.respond(ReadableStream.from([new Uint8Array(1)])));
  assertEquals(answer.error.code, "internal_error");
});

Deno.test("a timeout releases the slot", async () => {
  const held = heldGateway({ a: `${LIMITED}, timeout: 1s` });
  const call = held.asked();
  await held.world.advance(1_000);
  assertEquals((await call).error.code, "upstream_timeout");
  await assertFree(held);
});

Deno.test("a retry delay holds no slot, and the retry waits for one like any other call", async () => {
  const held = heldGateway({
    a: LIMITED,
    more: "retry: {max_attempts: 2, initial_delay: 10s, jitter_factor: 0}",
  });
  const first = held.asked();
  const second = held.asked();
  await held.world.advance(0);
  held.oldest().answer(503, "");
  await held.world.advance(0);
  assertEquals([held.running(), await held.counts("a")], [["a 2"], [1, 0]]);
  await held.world.advance(10_000);
  assertEquals([held.running(), await held.counts("a")], [["a 2"], [1, 1]]);
  held.oldest().answer();
  await held.world.advance(0);
  assertEquals(held.running(), ["a 1"]);
  held.oldest().answer();
  assertEquals([(await first).status, (await second).status], [200, 200]);
  assertEquals(held.sent.map(({ number, at }) => [number, at]), [[1, 0], [2, 0], [1, 10_000]]);
  await assertFree(held);
});

Deno.test("a client that disconnects while its call runs releases the slot to the next call at once", async () => {
  const held = heldGateway({ a: LIMITED });
  const client = new AbortController();
  const first = held.asked({ signal: client.signal });
  const second = held.asked();
  await held.world.advance(0);
  client.abort();
  await held.world.advance(0);
  assertEquals(held.running(), ["a 2"]);
  held.oldest().answer();
  assertEquals([(await first).status, (await second).status], [499, 200]);
  await assertFree(held);
});

Deno.test("a client that disconnects mid-stream releases the slot to the next call at once", async () => {
  const held = heldGateway({ a: LIMITED });
  const { response } = await begunStream(held);
  const second = held.asked();
  await held.world.advance(0);
  await response.body?.cancel();
  await held.world.advance(0);
  held.oldest().answer();
  assertEquals((await second).status, 200);
  await assertFree(held);
});

Deno.test("a queued call whose client disconnects leaves the queue at once, and no request is sent", async () => {
  const held = heldGateway({ a: "max_concurrent: 1, max_queued: 1" });
  const client = new AbortController();
  const first = held.asked();
  const second = held.asked({ signal: client.signal });
  await held.world.advance(0);
  assertEquals(await held.counts("a"), [1, 1]);
  client.abort();
  assertEquals(held.gateway.state.slots.counts(ownerIn(held)), { running: 1, queued: 0 });
  const answer = await second;
  assertEquals([answer.status, answer.error.type], [499, "client_cancelled"]);
  assertEquals(held.world.waiting, 1, "the timeout of the attempt that runs");
  const third = held.asked();
  await held.world.advance(0);
  held.oldest().answer();
  await held.world.advance(0);
  held.oldest().answer();
  assertEquals([(await first).status, (await third).status], [200, 200]);
  assertEquals(held.sent.map(({ number }) => number), [1, 3]);
  assertEquals([held.reports.map(endOf), held.reports[0]?.attempts], [
    ["client_gone", "complete", "complete"],
    [],
  ]);
});

Deno.test("a client that disconnects just after its slot was granted releases it to the next call", async () => {
  const held = heldGateway({ a: LIMITED });
  const client = new AbortController();
  const [, second, third] = [held.asked(), held.asked({ signal: client.signal }), held.asked()];
  await held.world.advance(0);
  held.gateway.state.slots.configure([[ownerIn(held), { ...WIDE, maxConcurrent: 2 }]]);
  client.abort();
  await held.world.advance(0);
  assertEquals((await second).status, 499);
  assertEquals(held.running(), ["a 1", "a 3"]);
  held.oldest().answer();
  held.oldest().answer();
  assertEquals((await third).status, 200);
  await held.world.advance(0);
  assertEquals(await held.counts("a"), [0, 0]);
});

const WIDE = { maxConcurrent: 9, maxQueued: 9, queueTimeoutMs: 1_000 };

function ownerIn({ gateway }: HeldGateway) {
  const provider = gateway.generation.providers.get("a");
  assert(provider !== undefined);
  return provider;
}

Deno.test("a gateway that drains lets queued calls run, and cancels them at the end of the drain time", async () => {
  const held = heldGateway({ a: LIMITED });
  const calls = [held.asked(), held.asked(), held.asked()];
  await held.world.advance(0);
  const { inFlight } = held.gateway.state;
  inFlight.drain();
  held.oldest().answer();
  await held.world.advance(0);
  assertEquals([held.running(), await held.counts("a")], [["a 2"], [1, 1]]);
  assertEquals(inFlight.cancelAll(), 2);
  const answers = await Promise.all(calls);
  assertEquals([await held.counts("a"), held.sent.length], [[0, 0], 2]);
  const draining = [503, "server_error", "draining"];
  assertEquals(answers.map(verdictOf), [[200, undefined, undefined], draining, draining]);
  assertEquals(held.reports.map(endOf), ["complete", "drained", "drained"]);
  assertEquals(held.reports.map(({ attempts }) => attempts.length).toSorted(), [0, 1, 1]);
  await inFlight.idle();
  assertEquals(held.world.waiting, 0);
});

Deno.test("a call that arrives after the gateway has cancelled its calls does not queue", async () => {
  const held = heldGateway({ a: LIMITED });
  const first = held.asked();
  await held.world.advance(0);
  held.gateway.state.inFlight.cancelAll();
  assertEquals((await first).error.code, "draining");
  assertEquals((await held.asked()).error.code, "draining");
  assertEquals(held.sent.length, 1);
});

Deno.test("a breaker's trial begins with the slot, so that a queue cannot starve it", async () => {
  const held = heldGateway({
    a: LIMITED,
    more: "retry: {enabled: false}\ncircuit_breaker: " +
      "{failure_threshold: 1, open_duration: 10s, half_open_max_requests: 1}",
  });
  const slow = held.asked();
  const queued = [held.asked(), held.asked()];
  await held.world.advance(0);
  const account = ownerIn(held).upstream;
  const { breakers } = held.gateway.state;
  held.oldest().answer(500, "");
  const refused = await Promise.all(queued);
  assertEquals((await slow).status, 500);
  assertEquals(refused.map(({ error }) => error.code), ["circuit_open", "circuit_open"]);
  assertEquals([breakers.state(account), held.sent.length], ["open", 1]);
  assertEquals(await held.counts("a"), [0, 0]);

  await held.world.advance(10_000);
  const trial = held.asked();
  await held.world.advance(0);
  assertEquals((await held.asked()).error.code, "circuit_open", "the only trial runs");
  held.oldest().answer();
  assertEquals([(await trial).status, breakers.state(account)], [200, "closed"]);
  await assertFree(held);
});

Deno.test("a call in the queue holds no trial of a half-open breaker", async () => {
  const held = heldGateway({
    a: "max_concurrent: 1, max_queued: 1, queue_timeout: 1m",
    more: "retry: {enabled: false}\ncircuit_breaker: " +
      "{failure_threshold: 1, open_duration: 10s, half_open_max_requests: 1}",
  });
  const { breakers } = held.gateway.state;
  const account = ownerIn(held).upstream;
  const { response } = await begunStream(held);
  const permit = breakers.admit(account, held.gateway.generation.config.circuit_breaker);
  assert("end" in permit);
  permit.end("failure");
  await held.world.advance(10_000);
  const queued = held.asked();
  await held.world.advance(0);
  assertEquals(await held.counts("a"), [1, 1]);
  assertEquals(breakers.openFor(account, held.gateway.generation.config.circuit_breaker), 0);
  await response.body?.cancel();
  await held.world.advance(0);
  held.oldest().answer();
  assertEquals([(await queued).status, breakers.state(account)], [200, "closed"]);
});

Deno.test("an open breaker is not waited for", async () => {
  const held = heldGateway({
    a: LIMITED,
    more: "retry: {enabled: false}\ncircuit_breaker: {failure_threshold: 1}",
  });
  const { response } = await begunStream(held);
  const { breakers } = held.gateway.state;
  const { circuit_breaker } = held.gateway.generation.config;
  const permit = breakers.admit(ownerIn(held).upstream, circuit_breaker);
  assert("end" in permit);
  permit.end("failure");
  assertEquals((await held.asked()).error.code, "circuit_open");
  assertEquals(held.world.now(), 0);
  await response.body?.cancel();
});
