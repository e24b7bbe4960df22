import { assertEquals } from "../support/assert.ts";
import { chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { serveGateway, testGateway } from "../support/gateway.ts";
import { streamOf } from "../support/pieces.ts";
import { startUpstream } from "../support/upstream.ts";
import { scriptedWorld } from "../support/world.ts";
import { config, succeed, verdictAndTarget } from "./two_targets.ts";

const UNREACHABLE = [502, "upstream_error", "upstream_unreachable"];
const TIMEOUT = [504, "upstream_timeout", "upstream_timeout"];
const TOO_LARGE = [502, "upstream_error", "upstream_response_too_large"];
const RETRY = "max_attempts: 2, initial_delay: 0s";
const MIB = 1024 * 1024;

// The system soon assigns a freed ephemeral port again; it never assigns this port.
const ADDRESSES: readonly (readonly [what: string, address: string])[] = [
  ["a refused connection", "http://127.0.0.1:1"],
  ["a host name without an address", "http://no-such-host.invalid"],
];

for (const [what, first] of ADDRESSES) {
  Deno.test(`${what} is tried again, then falls back, and counts for the breaker`, async () => {
    await using other = startUpstream(succeed);
    await using alone = serveGateway(
      config({ first, retry: RETRY, breaker: "failure_threshold: 2" }),
    );
    for (const stream of [false, true]) {
      const answer = await got(
        await fetch(chatRequest({ url: alone.url, body: { model: "x", stream } })),
      );
      const expected = stream ? [503, "upstream_error", "circuit_open"] : UNREACHABLE;
      assertEquals(verdictAndTarget(answer), [...expected, "first/x"]);
    }
    assertEquals(alone.reports[0]?.attempts.map(({ outcome }) => outcome), [
      "upstream_unreachable",
      "upstream_unreachable",
    ]);
    await using both = serveGateway(config({ first, second: other.url, retry: RETRY }));
    const answer = await got(await fetch(chatRequest({ url: both.url, body: { model: "x" } })));
    assertEquals(verdictAndTarget(answer), [200, undefined, undefined, "second/y"]);
  });
}

Deno.test("an upstream that never responds is a timeout, which is retried and falls back", async () => {
  await using silent = startUpstream((exchange) => exchange.closedByPeer);
  await using other = startUpstream(succeed);
  const setting = { first: silent.url, provider: "timeout: 60ms", retry: RETRY };
  await using alone = serveGateway(config(setting));
  const answer = await got(await fetch(chatRequest({ url: alone.url, body: { model: "x" } })));
  assertEquals(verdictAndTarget(answer), [...TIMEOUT, "first/x"]);
  // A busy machine may give a try up before its request has come through, so tries are counted
  // here.
  assertEquals(alone.reports[0]?.attempts.map(({ outcome }) => outcome), [
    "upstream_timeout",
    "upstream_timeout",
  ]);
  await using both = serveGateway(config({ ...setting, second: other.url }));
  const served = await got(await fetch(chatRequest({ url: both.url, body: { model: "x" } })));
  assertEquals(verdictAndTarget(served), [200, undefined, undefined, "second/y"]);
});

Deno.test("every attempt has its own timeout, which counts for the circuit breaker", async () => {
  const began: number[] = [];
  const world = scriptedWorld({
    fetch(_url, { signal }) {
      began.push(world.now());
      return new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(new DOMException("cut", "AbortError")))
      );
    },
  });
  const retry = "max_attempts: 3, initial_delay: 100ms, multiplier: 1, jitter_factor: 0";
  const gateway = testGateway(
    config({
      first: "http://up",
      provider: "timeout: 1s",
      retry,
      breaker: "failure_threshold: 3, open_duration: 10s",
    }),
    world,
  );
  const waiting = gateway.app(chatRequest({ body: { model: "x" } }));
  await world.advance(10_000);
  assertEquals(verdictAndTarget(await got(await waiting)), [...TIMEOUT, "first/x"]);
  assertEquals(began, [0, 1100, 2200]);
  const next = await got(await gateway.app(chatRequest({ body: { model: "x" } })));
  assertEquals(next.error.code, "circuit_open");
  assertEquals(world.waiting, 0);
});

/** A gateway whose only provider responds with a body of `pieces` chunks of 1 MiB. */
function answering(pieces: number, last: string) {
  const blank = new Uint8Array(MIB).fill(0x20);
  const world = scriptedWorld({
    fetch() {
      const end = new TextEncoder().encode(last);
      const body = [...Array.from({ length: pieces }, () => blank), end];
      return Promise.resolve(new Response(streamOf(body)));
    },
  });
  return testGateway(config({ first: "http://up" }), world);
}

Deno.test("a response that is parsed may have 16 MiB and not a byte more", async () => {
  const text = JSON.stringify(COMPLETION);
  const padded = " ".repeat(MIB - text.length) + text;
  const whole = await answering(15, padded).app(chatRequest({ body: { model: "x" } }));
  assertEquals(whole.status, 200);
  await whole.body?.cancel();
  const larger = await answering(15, ` ${padded}`).app(chatRequest({ body: { model: "x" } }));
  assertEquals(verdictAndTarget(await got(larger)), [...TOO_LARGE, "first/x"]);
});

Deno.test("a first record over 4 MiB is too large", async () => {
  const gateway = answering(5, "");
  const answer = await gateway.app(chatRequest({ body: { model: "x", stream: true } }));
  assertEquals(verdictAndTarget(await got(answer)), [...TOO_LARGE, "first/x"]);
});
