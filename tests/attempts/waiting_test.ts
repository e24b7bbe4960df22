import { decideRetry, retryDelayMs } from "../../src/attempts/retry_policy.ts";
import type { Config } from "../../src/config/schema.ts";
import { fault, refuse } from "../../src/core/failure/result.ts";
import fc from "fast-check";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { config, verdictAndTarget } from "./two_targets.ts";

const RETRY: Config["retry"] = {
  enabled: true,
  max_attempts: 3,
  initial_delay: 1000,
  max_delay: 30_000,
  multiplier: 2,
  jitter_factor: 0.2,
  retryable_errors: [503],
};

/**
 * When each try began, in milliseconds, for a provider that always answers 503 with these headers.
 */
async function tries(
  retry: string,
  random: readonly number[] = [],
  headers: Record<string, string> = {},
) {
  const began: number[] = [];
  const world = scriptedWorld({
    random,
    fetch() {
      began.push(world.now());
      return answers(503, "", headers);
    },
  });
  const gateway = testGateway(config({ first: "http://up", retry }), world);
  const waiting = gateway.app(chatRequest({ body: { model: "x" } }));
  await world.advance(1_000_000);
  const answer = await got(await waiting);
  return { began, answer };
}

Deno.test("each retry delay is the previous delay times the multiplier", async () => {
  const retry = "max_attempts: 5, initial_delay: 100ms, multiplier: 3, jitter_factor: 0";
  assertEquals((await tries(retry)).began, [0, 100, 400, 1300, 4000]);
});

Deno.test("no retry delay is longer than max_delay", async () => {
  const retry = "max_attempts: 5, initial_delay: 1s, max_delay: 3s, jitter_factor: 0";
  assertEquals((await tries(retry)).began, [0, 1000, 3000, 6000, 9000]);
});

Deno.test("by default there are three attempts, about one and two seconds apart", async () => {
  const { began } = await tries("enabled: true", [0.5, 0.5]);
  assertEquals(began, [0, 1000, 3000]);
});

Deno.test("jitter changes a retry delay by at most half the factor in either direction", () => {
  assertEquals(retryDelayMs(0, RETRY, 0), 900);
  assertEquals(retryDelayMs(0, RETRY, 0.5), 1000);
  fc.assert(fc.property(
    fc.nat(20),
    fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (n, random, jitter_factor) => {
      const plain = 1000 * 2 ** n;
      const wait = retryDelayMs(n, { ...RETRY, jitter_factor }, random);
      assert(wait <= 30_000);
      assert(wait >= Math.min(plain * (1 - jitter_factor / 2), 30_000));
      assert(wait <= plain * (1 + jitter_factor / 2));
    },
  ));
});

Deno.test("Retry-After in seconds raises the retry delay", async () => {
  const retry = "max_attempts: 2, initial_delay: 1s, jitter_factor: 0";
  assertEquals((await tries(retry, [], { "retry-after": "7" })).began, [0, 7000]);
  assertEquals((await tries(retry, [], { "retry-after": "0" })).began, [0, 1000]);
  assertEquals((await tries(retry, [], { "retry-after": "30" })).began, [0, 30_000]);
});

Deno.test("Retry-After as a date counts from the clock of the gateway", async () => {
  const retry = "max_attempts: 2, initial_delay: 1s, jitter_factor: 0";
  const at = (seconds: number) => new Date((1_700_000_000 + seconds) * 1000).toUTCString();
  assertEquals((await tries(retry, [], { "retry-after": at(9) })).began, [0, 9000]);
  assertEquals((await tries(retry, [], { "retry-after": at(-9) })).began, [0, 1000]);
  assertEquals((await tries(retry, [], { "retry-after": at(3600) })).began, [0]);
});

Deno.test("a Retry-After longer than max_delay ends the retries, and the header is sent to the client", async () => {
  const { began, answer } = await tries("max_attempts: 3", [], { "retry-after": "31" });
  assertEquals(began, [0]);
  assertEquals([answer.status, answer.headers.get("retry-after")], [503, "31"]);
});

Deno.test("a call whose Retry-After is longer than max_delay falls back", async () => {
  const world = scriptedWorld({
    fetch: (url) =>
      url.startsWith("http://other")
        ? answers(200, COMPLETION)
        : answers(429, "", { "retry-after": "3600" }),
  });
  const setting = { first: "http://up", second: "http://other", retry: "max_attempts: 3" };
  const gateway = testGateway(config(setting), world);
  const answer = await got(await gateway.app(chatRequest({ body: { model: "x" } })));
  assertEquals(verdictAndTarget(answer), [200, undefined, undefined, "second/y"]);
});

Deno.test("the fallback has its own attempts, and its retry delays start from the beginning", async () => {
  const began: string[] = [];
  const world = scriptedWorld({
    fetch(url) {
      began.push(`${new URL(url).hostname} ${world.now()}`);
      return answers(503, "");
    },
  });
  const retry = "max_attempts: 2, initial_delay: 1s, jitter_factor: 0";
  const gateway = testGateway(config({ first: "http://up", second: "http://other", retry }), world);
  const waiting = gateway.app(chatRequest({ body: { model: "x" } }));
  await world.advance(10_000);
  assertEquals((await got(await waiting)).status, 503);
  assertEquals(began, ["up 0", "up 1000", "other 1000", "other 2000"]);
});

Deno.test("a client that disconnects ends the retry delay at once, and no further request is sent", async () => {
  let sent = 0;
  const world = scriptedWorld({
    fetch() {
      sent++;
      return answers(503, "");
    },
  });
  const setting = { first: "http://up", second: "http://other", retry: "max_attempts: 3" };
  const gateway = testGateway(config({ ...setting, breaker: "failure_threshold: 9" }), world);
  const client = new AbortController();
  const request = chatRequest({ body: { model: "x" }, signal: client.signal });
  const waiting = gateway.app(request);
  await world.advance(10);
  assertEquals([sent, world.waiting], [1, 1]);
  client.abort();
  const answer = await got(await waiting);
  assertEquals(verdictAndTarget(answer), [499, "client_cancelled", undefined, "first/x"]);
  assertEquals(Object.keys(answer.error), ["message", "type"]);
  assertEquals([sent, world.waiting], [1, 0]);
});

Deno.test("a refusal of the gateway is never retried", () => {
  const { failure } = refuse("unsupported_feature", "");
  const situation = {
    fallbackOn: ["outage"] as const,
    isFallback: false,
    attempts: 1,
    retry: RETRY,
    retryAllowed: true,
    random: 0,
    hasSideEffects: false,
    hasUntried: false,
  };
  assertEquals(decideRetry({ ...situation, failure }), { kind: "stop" });
  const { failure: unreachable } = fault("upstream_unreachable", "");
  assertEquals(decideRetry({ ...situation, failure: unreachable }), {
    kind: "retry",
    delayMs: 900,
  });
  assertEquals(decideRetry({ ...situation, failure: unreachable, attempts: 3 }), {
    kind: "fallback",
  });
});
