import { endOf } from "../../../src/observe/report.ts";
import { assertEquals } from "../../support/assert.ts";
import { create } from "../../support/socket_client.ts";
import { oneProvider } from "../../support/gateway.ts";
import { holdQuotas } from "../../support/held_quotas.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";

const RATE = "rate_limiting: {enabled: true, requests_per_minute: 60, burst_size: 3}\n";

/** Returns a gateway with an open socket, whose handshake took the first token. */
async function sharedSocket(settings = "") {
  const upstream = wordStreams((_sent, count) => saying(`answer ${count}`));
  const served = socketGateway(RATE + oneProvider("http://up.test") + settings, upstream);
  const quotas = holdQuotas(served.gateway, () => 0);
  const opening = served.open();
  await quotas.reached(1);
  quotas.decide(0);
  return { upstream, served, quotas, client: await opening };
}

Deno.test("each message takes its token when it arrives, and the turns run in order whatever is decided first", async () => {
  const { served, quotas, client, upstream } = await sharedSocket();
  await using _served = served;
  await using _client = client;
  for (const lane of ["a", "b", "c"]) client.send(create({ stream_id: lane }));
  await quotas.reached(4);
  quotas.decide(3);
  quotas.decide(2);
  assertEquals([client.unread, upstream.sent.length], [0, 0], "the first one is not decided");
  quotas.decide(1);
  const ends = [await client.rest(), await client.rest(), await client.rest()];
  assertEquals<unknown>(ends.map(({ end, ending }) => [end.stream_id ?? null, ending]), [
    ["a", "error"],
    ["b", "response.completed"],
    ["c", "response.completed"],
  ]);
  assertEquals<unknown>(ends[0]?.error.code, "rate_limit_exceeded");
  assertEquals(upstream.sent.length, 2);
});

Deno.test("the queue limits hold while the shared store is queried", async () => {
  const { served, quotas, client } = await sharedSocket();
  await using _served = served;
  await using _client = client;
  for (let turn = 0; turn < 18; turn++) client.send(create({ stream_id: `lane-${turn}` }));
  const { end, error } = await client.rest();
  assertEquals<unknown>([end.stream_id, error.code], ["lane-17", "too_many_pending_requests"]);
  assertEquals(quotas.asked.length, 19, "every message takes a token");
  for (let turn = 0; turn < 18; turn++) quotas.decide(turn + 1, admitted());
  for (let turn = 0; turn < 17; turn++) {
    const received = await client.rest();
    assertEquals<unknown>(received.end.stream_id, `lane-${turn}`);
    assertEquals(received.ending, "response.completed");
  }
});

Deno.test("a client that closes its socket while the store is queried leaves no call behind", async () => {
  const { served, quotas, client, upstream } = await sharedSocket();
  await using _served = served;
  client.send(create());
  client.send(create());
  await quotas.reached(3);
  await client.close();
  await served.reported(3);
  assertEquals(served.reports.slice(1).map(endOf), ["client_gone", "client_gone"]);
  quotas.decide(1);
  quotas.decide(2);
  assertEquals(upstream.sent.length, 0);
  assertEquals(served.gateway.state.admission.bodyBytes(), 0);
});

Deno.test("a turn is an error event while the shared store is unavailable and such calls are refused", async () => {
  const { served, quotas, client } = await sharedSocket();
  await using _served = served;
  await using _client = client;
  client.send(create());
  await quotas.reached(2);
  quotas.decide(1, { kind: "unavailable" });
  const { end, error } = await client.rest();
  assertEquals<unknown>([end.type, end.status, error.code], ["error", 503, "state_unavailable"]);
  client.send(create());
  await quotas.reached(3);
  quotas.decide(2);
  assertEquals((await client.rest()).ending, "response.completed");
});

Deno.test("the message of a refused turn is released while the turn is queued", async () => {
  const { served, quotas, client } = await sharedSocket();
  await using _served = served;
  await using _client = client;
  const input = "x".repeat(9 * 1024 * 1024);
  client.send(create());
  client.send(create({ input }));
  await quotas.reached(3);
  quotas.decide(2, { kind: "unavailable" });
  client.send(create({ input }));
  await quotas.reached(4);
  quotas.decide(1, admitted());
  quotas.decide(3, admitted());
  const ends = [await client.rest(), await client.rest(), await client.rest()];
  assertEquals(ends.map(({ ending }) => ending), [
    "response.completed",
    "error",
    "response.completed",
  ]);
});

Deno.test("a message without memory is refused in its place when the store has answered", async () => {
  const { served, quotas, client } = await sharedSocket("server: {max_body_memory: 100000}\n");
  await using _served = served;
  await using _client = client;
  client.send(create());
  client.send(create({ input: "x".repeat(200_000), stream_id: "large" }));
  client.send(create({ input: "x".repeat(20_000), stream_id: "small" }));
  await quotas.reached(4);
  for (const place of [3, 2, 1]) quotas.decide(place, admitted());
  const ends = [await client.rest(), await client.rest(), await client.rest()];
  assertEquals<unknown>(ends.map(({ end, error }) => [end.stream_id ?? null, error.code ?? null]), [
    [null, null],
    // The stream_id of a message above 32 KiB is not looked for.
    [null, "overloaded"],
    ["small", null],
  ]);
});

function admitted() {
  return { kind: "admitted", rests: [{ requests: 1, tokens: null, spent: [] }] } as const;
}
