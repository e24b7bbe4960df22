import { endOf } from "../../src/observe/report.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import type { World } from "../../src/core/world.ts";
import { STREAM } from "../attempts/two_targets.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { COMPLETION } from "../support/chat_call.ts";
import { create } from "../support/socket_client.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { startUpstream, type UpstreamExchange } from "../support/upstream.ts";
import { type Fetch, sendBy } from "../support/world.ts";
import { heldStream, wordStreams } from "../support/word_stream.ts";
import { chatInit } from "./chat_call.ts";

function config(url: string, limits: string): string {
  return `
providers: {up: {type: compat, base_url: "${url}", ${limits}}}
routing: {routes: [{name: main, targets: [{provider: up}]}]}
retry: {enabled: false}
`;
}

/** No other wait has this many milliseconds. */
const QUEUE_TIMEOUT_MS = 47_000;

const LIMITS = "max_concurrent: 1, max_queued: 1, queue_timeout: 47s";

/** The real world, which says when a call begins to wait in a queue. */
function watchedWorld(fetch?: Fetch) {
  const real = newRealWorld();
  const queued = Promise.withResolvers<void>();
  const world: World = {
    ...real,
    ...fetch === undefined ? {} : { send: sendBy(fetch) },
    after(ms, run) {
      if (ms === QUEUE_TIMEOUT_MS) queued.resolve();
      return real.after(ms, run);
    },
  };
  return { world, queued: queued.promise, [Symbol.dispose]: () => real.close() };
}

/** An upstream that holds every request until the next one has come, or none can come any more. */
function crowdedUpstream() {
  let running = 0;
  let most = 0;
  const upstream = startUpstream(async (exchange) => {
    most = Math.max(most, ++running);
    // A round over the socket, in which more would come if they were let.
    await exchange.write("HTTP/1.1 100 Continue\r\n\r\n");
    running--;
    await answered(exchange);
  });
  return { upstream, most: () => most };
}

function answered(exchange: UpstreamExchange): Promise<unknown> {
  return exchange.request.body.includes('"stream":true')
    ? exchange.sse(STREAM)
    : exchange.json(200, COMPLETION);
}

Deno.test("forty clients at once never make more upstream calls than the limit, and all are served", async () => {
  const { upstream, most } = crowdedUpstream();
  await using _ = upstream;
  const limits = "max_concurrent: 3, max_queued: 40";
  await using gateway = socketGateway(config(upstream.url, limits));
  const statuses = await Promise.all(Array.from({ length: 40 }, async (_, at) => {
    const init = chatInit({ stream: at % 2 === 0 });
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, init);
    const text = await answer.text();
    assert(at % 2 === 0 ? text.endsWith("data: [DONE]\n\n") : text.includes("chatcmpl-1"), text);
    return answer.status;
  }));
  assertEquals(statuses, Array(40).fill(200));
  assertEquals(upstream.requests.length, 40);
  assert(most() <= 3, `${most()} at once`);
});

Deno.test("a client that disconnects while queued leaves the queue, and the rest of the queue is served", async () => {
  const goOn = Promise.withResolvers<void>();
  await using upstream = startUpstream(async (exchange) => {
    await goOn.promise;
    await answered(exchange);
  });
  using watched = watchedWorld();
  await using gateway = socketGateway(config(upstream.url, LIMITS), watched);
  const url = `${gateway.url}/v1/chat/completions`;
  const first = fetch(url, chatInit());
  await upstream.next();
  const client = new AbortController();
  const queued = fetch(url, { ...chatInit(), signal: client.signal }).catch(() => "left");
  await watched.queued;
  const refused = await fetch(url, chatInit());
  assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  assertEquals((await refused.json()).error.code, "provider_busy");
  client.abort();
  assertEquals(await queued, "left");
  const left = await gateway.reported(2);
  assertEquals([left.status, endOf(left), left.attempts], [499, "client_gone", []]);
  const next = fetch(url, chatInit());
  goOn.resolve();
  for (const answer of await Promise.all([first, next])) {
    assertEquals([answer.status, await answer.json()], [200, COMPLETION]);
  }
  assertEquals(upstream.requests.length, 2);
});

Deno.test("the turns of sockets wait for their provider, and a socket that closes leaves the queue", async () => {
  const held = heldStream();
  const asked = Promise.withResolvers<void>();
  const upstream = wordStreams((sent) => {
    asked.resolve();
    return held.answer(sent);
  });
  using watched = watchedWorld(upstream.fetch);
  await using gateway = socketGateway(config("http://up.test", LIMITS), watched);
  const { state, generation } = gateway.gateway;
  const provider = generation.providers.get("up") ?? { id: "", upstream: "" };
  await using first = await gateway.open();
  first.send(create());
  await asked.promise;
  const second = await gateway.open();
  second.send(create());
  await watched.queued;
  await using third = await gateway.open();
  const { error } = await third.turn(create());
  assertEquals([error.code, error.type], ["provider_busy", "upstream_error"]);
  assertEquals(error.headers, { "retry-after": "1" });
  await second.close();
  await gateway.reported(5);
  const ends = gateway.reports.map(endOf).toSorted();
  const handshakes = ["complete", "complete", "complete"];
  assertEquals(ends, ["client_gone", ...handshakes, "refused"]);
  assertEquals(state.slots.counts(provider), { running: 1, queued: 0 });
  held.say("yes");
  held.finish();
  assertEquals((await first.rest()).output, "yes");
  assertEquals(upstream.sent.length, 1);
});
