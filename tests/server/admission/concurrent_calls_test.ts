import type { QuotaDecision } from "../../../src/store/quota_store.ts";
import { assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../../support/chat_call.ts";
import { keyOf } from "../../support/client_keys.ts";
import { holdQuotas } from "../../support/held_quotas.ts";
import { keys, type LimitedGateway, limitedGateway } from "../../support/limited_gateway.ts";
import { streamOf } from "../../support/pieces.ts";

const TWO = keys({ ada: { max_concurrent: 2 }, bob: {} });
const REFUSED = [429, "rate_limit_error", "concurrency_limit_exceeded"];

/** A provider that responds when the test says so. */
function heldProvider() {
  const waiting: (() => void)[] = [];
  return {
    waiting,
    fetch(_url: string, { signal }: RequestInit) {
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      signal?.addEventListener("abort", () => reject(new TypeError("aborted")));
      waiting.push(() => void answers(200, COMPLETION).then(resolve));
      return promise;
    },
  };
}

function send({ app }: LimitedGateway, name = "ada", signal?: AbortSignal) {
  return app(chatRequest({ headers: keyOf(name), ...signal !== undefined && { signal } }));
}

/** Resolves when the gateway can do nothing more by itself. */
function settled({ world }: LimitedGateway): Promise<void> {
  return world.advance(0);
}

Deno.test("a key has as many calls at once as max_concurrent, and each end makes room for the next", async () => {
  const { fetch, waiting } = heldProvider();
  const gateway = limitedGateway(TWO, { fetch });
  const first = send(gateway);
  const second = send(gateway);
  await settled(gateway);
  const refused = await got(await send(gateway));
  assertEquals(verdictOf(refused), REFUSED);
  assertEquals(refused.headers.get("retry-after"), "1");
  const free = send(gateway, "bob");
  await settled(gateway);
  assertEquals(waiting.length, 3);
  waiting[0]?.();
  assertEquals((await first).status, 200);
  const third = send(gateway);
  await settled(gateway);
  for (const respond of waiting) respond();
  assertEquals([(await second).status, (await third).status, (await free).status], [200, 200, 200]);
});

Deno.test("the calls that run are renewed every 10 s by one timer, which ends with the last call", async () => {
  const { fetch, waiting } = heldProvider();
  const gateway = limitedGateway(TWO, { fetch });
  const { world } = gateway;
  const idle = world.waiting;
  const calls = [send(gateway), send(gateway)];
  await settled(gateway);
  // Far beyond the time after which a lease ends by itself.
  await world.advance(95_000);
  assertEquals(verdictOf(await got(await send(gateway))), REFUSED);
  for (const respond of waiting) respond();
  for (const call of calls) await (await call).body?.cancel();
  assertEquals([world.waiting, gateway.gateway.state.leases.size], [idle, 0]);
});

Deno.test("a stream counts until its last byte, and a client that disconnects makes room at once", async () => {
  const chunk = { ...COMPLETION, object: "chat.completion.chunk" };
  const choices = [{ index: 0, delta: { content: "Hi" }, finish_reason: null }];
  const text = `data: ${JSON.stringify({ ...chunk, choices })}\n\n`;
  const fetch = () =>
    Promise.resolve(
      new Response(
        new ReadableStream({
          type: "bytes",
          start: (stream) => stream.enqueue(new TextEncoder().encode(text)),
        }),
        { headers: { "content-type": "text/event-stream" } },
      ),
    );
  const gateway = limitedGateway(keys({ ada: { max_concurrent: 1 } }), { fetch });
  const request = () => chatRequest({ headers: keyOf("ada"), body: { stream: true } });
  const running = await gateway.app(request());
  assertEquals(running.status, 200);
  assertEquals(verdictOf(await got(await gateway.app(request()))), REFUSED);
  await running.body?.cancel();
  await settled(gateway);
  const next = await gateway.app(request());
  assertEquals(next.status, 200);
  await next.body?.cancel();
  await settled(gateway);
});

Deno.test("a call that leaves before its response makes room at once", async () => {
  const { fetch } = heldProvider();
  const gateway = limitedGateway(keys({ ada: { max_concurrent: 1 } }), { fetch });
  const client = new AbortController();
  const left = send(gateway, "ada", client.signal);
  await settled(gateway);
  client.abort();
  assertEquals((await left).status, 499);
  assertEquals(gateway.gateway.state.leases.size, 0);
  const next = new AbortController();
  const again = send(gateway, "ada", next.signal);
  await settled(gateway);
  next.abort();
  assertEquals((await again).status, 499);
  assertEquals(gateway.reports.map(({ failure }) => failure?.kind), [
    "client_cancelled",
    "client_cancelled",
  ]);
});

Deno.test("a call that is refused after its admission gives its concurrent call back", async () => {
  const gateway = limitedGateway(keys({
    ada: { max_concurrent: 1, models: ["other"], endpoints: ["chat_completions"] },
  }));
  for (let turn = 0; turn < 3; turn++) {
    assertEquals((await got(await send(gateway))).error.code, "model_not_allowed");
    const list = new Request("http://localhost/v1/models", {
      headers: { host: "localhost", ...keyOf("ada") },
    });
    assertEquals((await got(await gateway.app(list))).error.code, "endpoint_not_allowed");
    const broken = new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { host: "localhost", ...keyOf("ada") },
      body: streamOf([new TextEncoder().encode("{")]),
    });
    assertEquals((await got(await gateway.app(broken))).error.code, "invalid_json");
  }
});

Deno.test("a shared store that decides after the client has gone gets the concurrent call back", async () => {
  const gateway = limitedGateway(keys({ ada: { max_concurrent: 1 } }));
  const quotas = holdQuotas(gateway.gateway, gateway.world.now);
  const client = new AbortController();
  const left = send(gateway, "ada", client.signal);
  await quotas.reached(1);
  client.abort();
  assertEquals((await left).status, 499);
  quotas.decide(0);
  await settled(gateway);
  assertEquals(
    quotas.settled.map(([call, uses]) => [call, uses.map(({ holdsSlot }) => holdsSlot)]),
    [[quotas.asked[0], [true]]],
  );
});

Deno.test("a call is 503 if the store is unavailable and the configuration refuses calls with limits then", async () => {
  const gateway = limitedGateway(keys({ ada: { budgets: [{ per: "day", usd: 1 }] } }));
  const quotas = holdQuotas(gateway.gateway, gateway.world.now);
  const unavailable: QuotaDecision = { kind: "unavailable" };
  const response = send(gateway);
  await quotas.reached(1);
  quotas.decide(0, unavailable);
  const refused = await got(await response);
  assertEquals(verdictOf(refused), [503, "server_error", "state_unavailable"]);
  assertEquals(quotas.settled, []);
});
