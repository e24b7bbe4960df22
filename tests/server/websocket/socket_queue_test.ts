import { assert, assertEquals } from "../../support/assert.ts";
import { create } from "../../support/socket_client.ts";
import { oneProvider } from "../../support/gateway.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { heldStream, saying, wordStreams } from "../../support/word_stream.ts";

const CONFIG = oneProvider("http://up.test");

Deno.test("turns run one at a time, in the order in which they were sent", async () => {
  const held = heldStream();
  const upstream = wordStreams((sent, count) =>
    count === 1 ? held.answer(sent) : saying(`answer ${count}`)
  );
  await using served = socketGateway(CONFIG, upstream);
  await using client = await served.open();
  for (const input of ["one", "two", "three"]) client.send(create({ input }));
  assertEquals<unknown>((await first(client.next(), held)).type, "response.created");
  assertEquals(upstream.sent.length, 1, "the second waits for the first");
  held.finish();
  assertEquals((await client.rest()).output, "answer 1");
  assertEquals((await client.rest()).output, "answer 2");
  assertEquals((await client.rest()).output, "answer 3");
  const asked = upstream.sent.map(({ body }) => JSON.stringify(body.messages));
  assertEquals(asked.map((text) => /one|two|three/.exec(text)?.[0]), ["one", "two", "three"]);
});

async function first<T>(event: Promise<T>, held: ReturnType<typeof heldStream>): Promise<T> {
  held.say("answer 1");
  return await event;
}

Deno.test("sixteen turns may be queued; the next turn is refused immediately, and the queued turns get their responses", async () => {
  const held = heldStream();
  const upstream = wordStreams((sent, count) => count === 1 ? held.answer(sent) : saying("later"));
  await using served = socketGateway(CONFIG, upstream);
  await using client = await served.open();
  for (let turn = 0; turn < 18; turn++) client.send(create({ stream_id: `lane-${turn}` }));
  const { error, end, events } = await client.rest();
  assertEquals(events.length, 1);
  assertEquals<unknown>([end.status, end.stream_id, end.sequence_number], [429, "lane-17", 0]);
  assertEquals<unknown>(
    [error.type, error.code, error.param],
    ["rate_limit_error", "too_many_pending_requests", null],
  );
  held.say("first");
  held.finish();
  for (let turn = 0; turn < 17; turn++) {
    const received = await client.rest();
    assertEquals<unknown>([received.ending, received.end.stream_id], [
      "response.completed",
      `lane-${turn}`,
    ]);
  }
  assertEquals(upstream.sent.length, 17);
  const report = await served.reported(2);
  assertEquals([report.status, report.failure?.kind], [429, "too_many_pending_requests"]);
});

Deno.test("queued turns may be large, up to the limit of the queue", async () => {
  const held = heldStream();
  const upstream = wordStreams((sent, count) => count === 1 ? held.answer(sent) : saying("later"));
  await using served = socketGateway(CONFIG, upstream);
  await using client = await served.open();
  const input = "x".repeat(9 * 1024 * 1024);
  client.send(create());
  client.send(create({ input }));
  client.send(create({ input, stream_id: "too much" }));
  const { end, error } = await client.rest();
  assertEquals<unknown>([end.stream_id, error.code], ["too much", "too_many_pending_requests"]);
  held.finish();
  assertEquals((await client.rest()).ending, "response.completed");
  assertEquals((await client.rest()).output, "later");
});

Deno.test("refused messages wait with a label of 1,024 characters at most, so that any of their sizes may be queued", async () => {
  const held = heldStream();
  await using served = socketGateway(CONFIG, wordStreams(held.answer));
  await using client = await served.open();
  client.send(create());
  for (const chars of [1_024, 1_025, 9 * 1024 * 1024, 9 * 1024 * 1024]) {
    client.send({ type: "response.steer", stream_id: "x".repeat(chars) });
  }
  held.say("first");
  held.finish();
  assertEquals((await client.rest()).ending, "response.completed");
  for (const label of ["x".repeat(1_024), undefined, undefined, undefined]) {
    const { end, error, events } = await client.rest();
    assertEquals<unknown>([events.length, end.stream_id, error.code], [1, label, "invalid_value"]);
  }
});

Deno.test("the error of a refused message is sent in its turn, so that clients do not assign it to the running turn", async () => {
  const held = heldStream();
  await using served = socketGateway(CONFIG, wordStreams(held.answer));
  await using client = await served.open();
  client.send(create());
  held.say("one");
  assertEquals<unknown>((await client.next()).type, "response.created");
  client.send("no JSON");
  client.send({ type: "response.steer" });
  held.say(" two");
  held.finish();
  const received = await client.rest();
  assertEquals([received.ending, received.output], ["response.completed", "one two"]);
  assertEquals(received.events.filter(({ type }) => type === "error"), []);
  assertEquals<unknown>((await client.rest()).error.code, "invalid_json");
  assertEquals<unknown>((await client.rest()).error.code, "invalid_value");
});

Deno.test("closing the socket cancels the running upstream call immediately and drops queued turns", async () => {
  const arrived = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const upstream = wordStreams(({ signal }) => {
    signal.addEventListener("abort", () => aborted.resolve(), { once: true });
    arrived.resolve();
    return new Promise((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  });
  await using served = socketGateway(CONFIG, upstream);
  const client = await served.open();
  client.send(create({ stream_id: "runs" }));
  client.send(create({ stream_id: "waits" }));
  await arrived.promise;
  await client.close();
  await aborted.promise;
  await served.gateway.state.inFlight.idle();
  assertEquals(upstream.sent.length, 1);
  assertEquals(served.reports.slice(1).map(({ status }) => status), [499, 499]);
  assert(served.reports.slice(1).every(({ failure }) => failure?.kind === "client_cancelled"));
});

Deno.test("closing the socket in mid-stream cancels the upstream's stream", async () => {
  const held = heldStream();
  await using served = socketGateway(CONFIG, wordStreams(held.answer));
  const client = await served.open();
  client.send(create());
  held.say("one");
  await client.next();
  await client.close();
  await held.cancelled;
  const report = await served.reported(2);
  assertEquals([report.failure?.kind, report.brokeOff], ["client_cancelled", true]);
  await served.gateway.state.inFlight.idle();
  assertEquals(await served.sockets(), 0);
});
