import { endOf } from "../../../src/observe/report.ts";
import type { TurnKind } from "../../../src/traffic/loop_turns.ts";
import { assertEquals } from "../../support/assert.ts";
import { oneProvider } from "../../support/gateway.ts";
import { heldTurns } from "../../support/held_turns.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";

function serve(...kinds: readonly TurnKind[]) {
  const upstream = wordStreams((_sent, count) => saying(`answer ${count}`));
  const served = socketGateway(oneProvider("http://up.test"), upstream);
  const held = heldTurns(...kinds.length > 0 ? kinds : ["entering", "large"] as const);
  Object.assign(served.gateway.state, { turns: held.turns });
  return { upstream, served, held };
}

const LARGE = "x".repeat(40_000);

Deno.test("a large message is parsed in a turn of the event loop, and served in another one", async () => {
  const { upstream, served, held } = serve();
  await using _served = served;
  await using client = await served.open();
  client.send(`{"no JSON": "${LARGE}"`);
  await held.waits(1);
  assertEquals(client.unread, 0, "not parsed");
  held.begin();
  assertEquals<unknown>((await client.rest()).error.code, "invalid_json");
  client.send(create({ input: LARGE }));
  await held.waits(1);
  held.begin();
  await held.waits(1);
  assertEquals(upstream.sent.length, 0, "parsed, and not served");
  held.begin();
  assertEquals((await client.rest()).output, "answer 1");
});

Deno.test("large messages of many sockets wait for one turn each, and small ones do not wait for them", async () => {
  const { upstream, served, held } = serve();
  await using _served = served;
  await using large = await served.open();
  await using other = await served.open();
  await using small = await served.open();
  large.send(create({ input: LARGE }));
  other.send(create({ input: LARGE }));
  await held.waits(2);
  small.send(create());
  assertEquals((await small.rest()).output, "answer 1");
  assertEquals(upstream.sent.length, 1);
  const answers = [large.rest(), other.rest()];
  for (let turn = 0; turn < 4; turn++) {
    await held.waits(1);
    held.begin();
  }
  const outputs = (await Promise.all(answers)).map(({ output }) => output);
  assertEquals(outputs.toSorted(), ["answer 2", "answer 3"]);
  const kinds = held.kinds.filter((kind) => kind !== "start");
  assertEquals(kinds, ["entering", "entering", "rest", "large", "large"]);
});

Deno.test("a small message waits behind a large one of its socket", async () => {
  const { served, held } = serve();
  await using _served = served;
  await using client = await served.open();
  client.send(create({ input: LARGE, stream_id: "large" }));
  client.send(create({ stream_id: "small" }));
  for (let turn = 0; turn < 2; turn++) {
    await held.waits(1);
    held.begin();
  }
  assertEquals<unknown>((await client.rest()).end.stream_id, "large");
  assertEquals<unknown>((await client.rest()).end.stream_id, "small");
});

Deno.test("a large message that finds the queue full is refused in its turn, with its stream_id", async () => {
  const { served, held } = serve();
  await using _served = served;
  await using client = await served.open();
  for (let turn = 0; turn < 17; turn++) client.send(create({ input: LARGE }));
  client.send(create({ input: LARGE, stream_id: "too much" }));
  client.send(create({ stream_id: "small" }));
  const small = await client.rest();
  assertEquals<unknown>([small.end.stream_id, small.error.code], [
    "small",
    "too_many_pending_requests",
  ]);
  await held.waits(18);
  const refused = client.rest();
  // The first message has its turn to be parsed, and waits behind all others for its next one.
  for (let turn = 0; turn < 18; turn++) held.begin();
  const { end, error } = await refused;
  assertEquals<unknown>([end.stream_id, error.code], ["too much", "too_many_pending_requests"]);
  for (let turn = 0; turn < 17; turn++) {
    await held.waits(1);
    held.begin();
    assertEquals((await client.rest()).ending, "response.completed");
  }
});

Deno.test("a message counts in body memory while it waits for its turn, and is not served when its socket closes", async () => {
  const { upstream, served, held } = serve();
  await using _served = served;
  const client = await served.open();
  client.send(create({ input: LARGE }));
  client.send(create({ input: LARGE }));
  await held.waits(2);
  const { admission } = served.gateway.state;
  assertEquals(admission.bodyBytes() > 80_000, true);
  await client.close();
  await served.reported(2);
  assertEquals(admission.count(), 1, "the message that runs");
  held.begin();
  held.begin();
  await served.reported(3);
  assertEquals(served.reports.slice(1).map(endOf), ["client_gone", "client_gone"]);
  assertEquals([upstream.sent.length, admission.bodyBytes()], [0, 0]);
});

Deno.test("a message of 32 KiB waits for no turn of large ones", async () => {
  const { served, held } = serve();
  await using _served = served;
  await using client = await served.open();
  const rest = JSON.stringify(create({ input: "" })).length;
  client.send(create({ input: "x".repeat(32 * 1024 - rest) }));
  assertEquals((await client.rest()).output, "answer 1");
  assertEquals(held.kinds.some((kind) => kind === "entering" || kind === "large"), false);
});

Deno.test("a message of 500 items is checked, sent, stored and ended in a turn each", async () => {
  const { served, held } = serve();
  await using _served = served;
  await using client = await served.open();
  const input = Array(500).fill({ role: "user", content: "Hi" });
  client.send(create({ input }));
  const answer = await held.beginUntil(client.rest());
  assertEquals(answer.output, "answer 1");
  assertEquals(held.kinds.filter((kind) => kind === "large").length, 4);
});

Deno.test("small messages begin in turns of the event loop, and more than 32 that have not begun close their socket", async () => {
  const { served, held } = serve("rest");
  await using _served = served;
  {
    await using client = await served.open();
    for (let at = 0; at < 32; at++) client.send("{}");
    for (let at = 0; at < 32; at++) {
      await held.waits(1);
      assertEquals(client.unread, 0, "not begun");
      held.begin();
      assertEquals<unknown>((await client.rest()).error.code, "invalid_value");
    }
  }
  await using client = await served.open();
  for (let at = 0; at < 33; at++) client.send("{}");
  assertEquals([await client.closed, client.unread], [1008, 0]);
});

Deno.test("a message that has not begun when the gateway shuts down is refused, not lost", async () => {
  const { served, held } = serve("rest");
  await using _served = served;
  await using client = await served.open();
  client.send(create({ stream_id: "waits" }));
  await held.waits(1);
  served.gateway.state.inFlight.drain();
  held.begin();
  const { end, error } = await client.rest();
  assertEquals<unknown>([end.stream_id, error.code], ["waits", "draining"]);
  assertEquals(await client.closed, 1001);
});
