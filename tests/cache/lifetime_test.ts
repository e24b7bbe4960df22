import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest } from "../support/chat_call.ts";
import { cachedGateway, caching, completion } from "./cached_gateway.ts";

/** Chat calls that differ in their seed. */
function seeded(seed: number): Request {
  return chatRequest({ body: { seed } });
}

const SECOND = `
caching: {enabled: true}
providers:
  up: {type: compat, base_url: "http://up/v1", default_model: small}
  spare: {type: compat, base_url: "http://spare/v1"}
routing:
  routes:
    - name: main
      targets: [{provider: up}]
      fallback: [{provider: spare, model: big}]
    - name: direct
      targets: [{provider: spare, model: big}]
retry: {enabled: false}
circuit_breaker: {enabled: false}
`;

Deno.test("a response is cached for the configured time and not longer", async () => {
  const gateway = cachedGateway(caching("ttl: 1m"));
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  await gateway.world.advance(59_999);
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
  await gateway.world.advance(1);
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
});

Deno.test("above max_size the oldest response is removed", async () => {
  const gateway = cachedGateway(caching("max_size: 2"));
  for (const seed of [1, 2]) assertEquals(await gateway.statusOf(seeded(seed)), "MISS");
  // A hit does not make an answer younger.
  assertEquals(await gateway.statusOf(seeded(1)), "HIT");
  assertEquals(await gateway.statusOf(seeded(3)), "MISS");
  assertEquals(await gateway.statusOf(seeded(2)), "HIT");
  assertEquals(await gateway.statusOf(seeded(1)), "MISS");
});

Deno.test("above max_bytes the oldest responses are removed until the new response fits", async () => {
  const measuring = cachedGateway();
  await measuring.ask(chatRequest());
  const [, bytes] = measuring.kept();
  const three = `max_entry_bytes: ${bytes}, max_bytes: ${3 * bytes}`;
  const gateway = cachedGateway(caching(three));
  for (const seed of [1, 2, 3, 4]) assertEquals(await gateway.statusOf(seeded(seed)), "MISS");
  assertEquals(gateway.kept(), [3, 3 * bytes]);
  for (const seed of [2, 3, 4]) assertEquals(await gateway.statusOf(seeded(seed)), "HIT");
  assertEquals(await gateway.statusOf(seeded(1)), "MISS");
});

Deno.test("key and response both count, and a response above max_entry_bytes is served without being cached", async () => {
  const measuring = cachedGateway();
  const { text } = await measuring.ask(chatRequest());
  const [, bytes] = measuring.kept();
  assert(bytes >= text.length + 64);
  const exact = cachedGateway(caching(`max_entry_bytes: ${bytes}`));
  assertEquals(await exact.statusOf(chatRequest()), "MISS");
  assertEquals(await exact.statusOf(chatRequest()), "HIT");
  const tight = cachedGateway(caching(`max_entry_bytes: ${bytes - 1}`));
  for (let call = 1; call <= 2; call++) {
    const { status, headers } = await tight.ask(chatRequest());
    assertEquals([status, headers.get("x-gateway-cache-status")], [200, "MISS"]);
  }
  assertEquals(tight.kept(), [0, 0]);
});

Deno.test("the response of a fallback is cached under the fallback's model alone", async () => {
  const open = (headers: Readonly<Record<string, string>> = {}) =>
    chatRequest({ headers, body: { model: "auto" } });
  let isBroken = true;
  const gateway = cachedGateway(
    SECOND,
    (request, count) =>
      request.host === "up" && isBroken ? answers(500, "{}") : completion(request, count),
  );
  const first = await gateway.ask(open());
  assertEquals(first.headers.get("x-gateway-provider"), "spare");
  assertEquals(gateway.kept()[0], 1);
  // The first target is called again: what another model said does not stand for it.
  isBroken = false;
  const second = await gateway.ask(open());
  assertEquals(second.headers.get("x-gateway-cache-status"), "MISS");
  assertEquals(second.headers.get("x-gateway-provider"), "up");
  const direct = await gateway.ask(open({ "X-Gateway-Route": "direct" }));
  assertEquals(direct.headers.get("x-gateway-cache-status"), "HIT");
  assertEquals(direct.headers.get("x-gateway-provider"), "spare");
  assertEquals(direct.headers.get("x-gateway-model"), "big");
  assertEquals(direct.text, first.text);
});

Deno.test("a reload without a change of the cache settings keeps the cached responses", async () => {
  const gateway = cachedGateway(caching("ttl: 1h"));
  await gateway.ask(chatRequest());
  gateway.reload(`${caching("ttl: 60m, max_size: 1000")}logging: {level: debug}`);
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
});

Deno.test("a reload that changes any setting of the cache empties it", async () => {
  const changes = ["ttl: 2h", "max_size: 7", "max_entry_bytes: 9999", "max_bytes: 99999999"];
  for (const change of changes) {
    const gateway = cachedGateway();
    await gateway.ask(chatRequest());
    gateway.reload(caching(change));
    assertEquals(gateway.kept(), [0, 0], change);
    assertEquals(await gateway.statusOf(chatRequest()), "MISS", change);
    assertEquals(await gateway.statusOf(chatRequest()), "HIT", change);
  }
});

Deno.test("a cache that is switched off stores nothing, not even the response to a running call", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const gateway = cachedGateway(
    caching(),
    (_asked, count) => count === 1 ? promise : answers(500, "{}"),
  );
  const running = gateway.statusOf(chatRequest());
  await gateway.world.advance(0);
  gateway.reload(caching().replace("enabled: true", "enabled: false"));
  resolve(await completion({ host: "up", path: "" }, 1));
  assertEquals(await running, "MISS");
  assertEquals(gateway.kept(), [0, 0]);
});

Deno.test("the cache limits at the time of the response apply to a running call", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const gateway = cachedGateway(caching(), () => promise);
  const running = gateway.statusOf(chatRequest());
  await gateway.world.advance(0);
  gateway.reload(caching("max_entry_bytes: 100"));
  resolve(await completion({ host: "up", path: "" }, 1));
  assertEquals(await running, "MISS");
  assertEquals(gateway.kept(), [0, 0]);
});

Deno.test("responses of an earlier definition of a provider are not served, whenever they arrive", async () => {
  const late = Promise.withResolvers<Response>();
  const gateway = cachedGateway(
    caching(),
    (request, count) => count === 2 ? late.promise : completion(request, count),
  );
  await gateway.ask(chatRequest());
  const running = gateway.ask(seeded(1));
  await gateway.world.advance(0);
  gateway.reload(caching("", "temperature: 0.5"));
  late.resolve(await completion({ host: "up", path: "" }, 2));
  await running;
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  assertEquals(await gateway.statusOf(seeded(1)), "MISS");
  assertEquals(await gateway.statusOf(seeded(1)), "HIT");
});

Deno.test("a reload that changes one provider keeps the cached responses of other providers", async () => {
  const gateway = cachedGateway(SECOND);
  await gateway.ask(chatRequest());
  gateway.reload(SECOND.replace("http://spare", "http://other"));
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
});

Deno.test("a cache with max_size 0 stores nothing", async () => {
  const gateway = cachedGateway(caching("max_size: 0"));
  for (const _ of [1, 2]) assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  assertEquals([gateway.kept(), gateway.requests.length], [[0, 0], 2]);
});

Deno.test("a cache smaller than the usual size of an entry stores responses that fit", async () => {
  const gateway = cachedGateway(caching("max_bytes: 100000"));
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
  const tiny = cachedGateway(caching("max_bytes: 1"));
  for (const _ of [1, 2]) assertEquals(await tiny.statusOf(chatRequest()), "MISS");
});

Deno.test("a response can be cached for longer than the maximum delay of the platform's timers", async () => {
  const gateway = cachedGateway(caching("ttl: 10000h"));
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
  await gateway.world.advance(10_000 * 3_600_000 - 1);
  assertEquals(await gateway.statusOf(chatRequest()), "HIT");
  await gateway.world.advance(1);
  assertEquals(await gateway.statusOf(chatRequest()), "MISS");
});
