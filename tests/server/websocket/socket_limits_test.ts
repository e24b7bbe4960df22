import { assertEquals } from "../../support/assert.ts";
import { keyOf } from "../../support/client_keys.ts";
import { oneProvider } from "../../support/gateway.ts";
import { keys } from "../../support/limited_gateway.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { longParses } from "../../support/long_parses.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";

const PRICES = 'pricing: {"up/*": {input: 2, output: 1}}\n';

function limited(settings: Parameters<typeof keys>[0], held: Promise<void> = Promise.resolve()) {
  const began = Promise.withResolvers<void>();
  const upstream = wordStreams(async (_sent, count) => {
    began.resolve();
    await held;
    return await saying(`answer ${count}`);
  });
  const served = socketGateway(keys(settings) + PRICES + oneProvider("http://up.test"), upstream);
  return { served, upstream, began: began.promise };
}

Deno.test("each turn of a socket is charged, and a budget that is used up refuses the next one", async () => {
  const { served } = limited({ ada: { budgets: [{ per: "month", usd: 1, tokens: 10 }] } });
  await using _served = served;
  await using client = await served.open(keyOf("ada"));
  const first = await client.turn(create());
  assertEquals(first.ending, "response.completed");
  const refused = await client.turn(create());
  assertEquals<unknown>([refused.ending, refused.end.status, refused.error.type], [
    "error",
    429,
    "insufficient_quota",
  ]);
  assertEquals<unknown>(refused.error.code, "budget_exceeded");
  assertEquals(JSON.stringify(refused.error.headers).startsWith('{"retry-after":'), true);
  const [handshake, turn] = served.reports;
  assertEquals([handshake?.charge?.tokens, (turn?.charge?.tokens ?? 0) >= 10], [0, true]);
});

Deno.test("turns count one by one: an idle socket holds no concurrent call of its key", async () => {
  const { served } = limited({ ada: { max_concurrent: 1 } });
  await using _served = served;
  await using one = await served.open(keyOf("ada"));
  await using two = await served.open(keyOf("ada"));
  for (const client of [one, two, one]) {
    assertEquals((await client.turn(create())).ending, "response.completed");
  }
  assertEquals(served.gateway.state.leases.size, 0);
});

Deno.test("a turn that a running one leaves no room for is refused, and a closed socket gives its calls back", async () => {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { served, began } = limited({ ada: { max_concurrent: 1 } }, held);
  await using _served = served;
  await using client = await served.open(keyOf("ada"));
  await using other = await served.open(keyOf("ada"));
  client.send(create({ stream_id: "one" }));
  await began;
  const elsewhere = await other.turn(create());
  assertEquals<unknown>(elsewhere.error.code, "concurrency_limit_exceeded");
  release();
  assertEquals((await client.rest()).ending, "response.completed");
  assertEquals((await other.turn(create())).ending, "response.completed");
  client.send(create());
  await client.close();
  await served.reported(6);
  assertEquals(served.gateway.state.leases.size, 0);
});

Deno.test("a turn in the background is refused for a key with a budget", async () => {
  const { served, upstream } = limited({ ada: { budgets: [{ per: "day", tokens: 10 }] } });
  await using _served = served;
  await using client = await served.open(keyOf("ada"));
  const { error } = await client.turn(create({ background: true }));
  assertEquals<unknown>([error.code, error.param], ["unsupported_feature", "background"]);
  assertEquals(upstream.sent.length, 0);
});

Deno.test("a large message that the rate of its key refuses is never parsed", async () => {
  const rate = "rate_limiting: {enabled: true, requests_per_minute: 1, burst_size: 1}\n";
  await using served = socketGateway(
    keys({ ada: {} }) + rate + oneProvider("http://up.test"),
    wordStreams(() => Promise.resolve(saying("never"))),
  );
  await using client = await served.open(keyOf("ada"));
  using parses = longParses();
  const refused = await client.turn(create({ input: "a".repeat(100_000) }));
  assertEquals<unknown>([refused.ending, refused.error.code], ["error", "rate_limit_exceeded"]);
  assertEquals(parses.count(), 0);
});
