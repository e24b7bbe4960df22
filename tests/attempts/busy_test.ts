import { accessFields } from "../../src/observe/access_log.ts";
import { endOf, newReport } from "../../src/observe/report.ts";
import { samplesNamed } from "../observe/exposition.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type Got, verdictOf } from "../support/chat_call.ts";
import { heldGateway } from "./held_calls.ts";

const BUSY = [503, "upstream_error", "provider_busy"];

/** Provider and status of an answer. */
function served({ status, headers }: Got): string {
  return `${headers.get("x-gateway-provider")} ${status}`;
}

Deno.test("a provider at its limit without a queue is 503 provider_busy with Retry-After", async () => {
  const { asked, running, oldest, world, gateway, reports } = heldGateway({
    a: "max_concurrent: 1",
  });
  const first = asked();
  await world.advance(0);
  const answer = await asked();
  assertEquals([verdictOf(answer), answer.error.param], [BUSY, null]);
  assertEquals(answer.headers.get("retry-after"), "1");
  assertEquals(running(), ["a 1"]);
  oldest().answer();
  assertEquals(served(await first), "a 200");
  assertEquals(reports.map(endOf), ["refused", "complete"]);
  assertEquals(reports[0]?.attempts.map(({ outcome }) => outcome), ["provider_busy"]);
  const attempts = samplesNamed(await gateway.metrics.scrape(), "gateway_upstream_attempts_total");
  assertEquals(attempts, {
    '{provider="a",outcome="provider_busy"}': 1,
    '{provider="a",outcome="success"}': 1,
  });
});

Deno.test("calls wait in the order in which they came, and never more than the limit run", async () => {
  const held = heldGateway({ a: "max_concurrent: 2, max_queued: 9" });
  const { asked, running, oldest, world, counts } = held;
  const answers = Array.from({ length: 6 }, () => asked());
  await world.advance(0);
  assertEquals([running(), await counts("a")], [["a 1", "a 2"], [2, 4]]);
  for (let ended = 1; ended <= 6; ended++) {
    oldest().answer();
    await world.advance(0);
    const expected = [ended + 1, ended + 2].filter((number) => number <= 6);
    assertEquals(running(), expected.map((number) => `a ${number}`));
  }
  assertEquals((await Promise.all(answers)).map(served), Array(6).fill("a 200"));
  assertEquals([await counts("a"), world.waiting], [[0, 0], 0]);
});

Deno.test("the queue of a provider is in order of arrival across routes", async () => {
  const { asked, oldest, running, world } = heldGateway(`
providers: {a: {type: compat, base_url: "http://a", max_concurrent: 1, max_queued: 9}}
routing:
  routes:
    - {name: odd, match: {headers: {x-route: odd}}, targets: [{provider: a}]}
    - {name: even, targets: [{provider: a}]}
`);
  const answers = Array.from({ length: 5 }, (_, at) => {
    return asked({ headers: { "x-route": at % 2 === 0 ? "odd" : "even" } });
  });
  for (let number = 1; number <= 5; number++) {
    await world.advance(0);
    assertEquals(running(), [`a ${number}`]);
    oldest().answer();
  }
  const routes = (await Promise.all(answers)).map(({ headers }) => headers.get("x-gateway-route"));
  assertEquals(routes, ["odd", "even", "odd", "even", "odd"]);
});

Deno.test("only a full queue is refused at once", async () => {
  const { asked, world, counts } = heldGateway({ a: "max_concurrent: 1, max_queued: 2" });
  const calls = Array.from({ length: 4 }, () => asked());
  await world.advance(0);
  assertEquals(await counts("a"), [1, 2]);
  assertEquals(verdictOf(await calls[3] ?? await asked()), BUSY);
  assertEquals(verdictOf(await asked()), BUSY);
});

Deno.test("a call waits at most queue_timeout, and its wait is its latency, not overhead", async () => {
  const { asked, running, world, counts, reports, gateway } = heldGateway({
    a: "max_concurrent: 1, max_queued: 1, queue_timeout: 3s",
  });
  void asked();
  const second = asked();
  await world.advance(2_999);
  assertEquals(await counts("a"), [1, 1]);
  await world.advance(1);
  const answer = await second;
  assertEquals(verdictOf(answer), BUSY);
  assertEquals(answer.headers.get("retry-after"), "1");
  assertEquals(answer.headers.get("x-gateway-latency-ms"), "3000.0");
  assertEquals(answer.headers.get("x-gateway-overhead-duration-ms"), "0.0");
  assertEquals([running(), await counts("a")], [["a 1"], [1, 0]]);
  const [report = newReport("", "", "", 0)] = reports;
  assertEquals(accessFields(report).queued_ms, 3_000);
  const overhead = samplesNamed(await gateway.metrics.scrape(), "gateway_overhead_seconds_sum");
  assertEquals(Object.values(overhead), [0]);
});

Deno.test("queue_timeout is 30 seconds unless it is set", async () => {
  const { asked, world } = heldGateway({ a: "max_concurrent: 1, max_queued: 1" });
  void asked();
  const second = asked();
  await world.advance(29_999);
  assertEquals(world.waiting, 2, "the timeout of the attempt and that of the queue");
  await world.advance(1);
  assertEquals(verdictOf(await second), BUSY);
});

Deno.test("a wait does not consume the provider's timeout", async () => {
  const { asked, oldest, world, reports } = heldGateway({
    a: "max_concurrent: 1, max_queued: 1, timeout: 4s",
  });
  const first = asked();
  const second = asked();
  await world.advance(3_000);
  oldest().answer();
  await world.advance(3_999);
  oldest().answer();
  assertEquals([served(await first), served(await second)], ["a 200", "a 200"]);
  assertEquals(reports.map(({ queuedMs, ms }) => [queuedMs, ms.total]), [[0, 3_000], [
    3_000,
    6_999,
  ]]);
  const [one] = reports[1]?.attempts ?? [];
  assertEquals([one?.began, one?.ended], [3_000, 6_999]);
});

Deno.test("an access line names the wait only of a call that has waited", async () => {
  const { asked, oldest, world, reports } = heldGateway({ a: "max_concurrent: 1, max_queued: 1" });
  const calls = [asked(), asked()];
  await world.advance(1_500);
  oldest().answer();
  await world.advance(0);
  oldest().answer();
  await Promise.all(calls);
  assertEquals(reports.map((report) => accessFields(report).queued_ms), [null, 1_500]);
});

Deno.test("a full queue falls back at once, the end of a wait when it comes", async () => {
  const { asked, running, world } = heldGateway({
    a: "max_concurrent: 1, max_queued: 1, queue_timeout: 5s",
    fallback: "[{provider: b}]",
  });
  const calls = [asked(), asked(), asked()];
  await world.advance(0);
  assertEquals(running(), ["a 1", "b 3"], "the second waits, though the fallback is free");
  await world.advance(5_000);
  assertEquals(running(), ["a 1", "b 3", "b 2"]);
  assertEquals(calls.length, 3);
});

Deno.test("a call with side effects falls back too, because a busy provider has certainly not processed it", async () => {
  const { asked, oldest, running, world, reports } = heldGateway({
    a: "max_concurrent: 1, capabilities: {chat_completions_lifecycle: true}",
    b: "capabilities: {chat_completions_lifecycle: true}",
    fallback: "[{provider: b}]",
  });
  const body = { store: true };
  const calls = [asked({ body }), asked({ body })];
  await world.advance(0);
  assertEquals(running(), ["a 1", "b 2"]);
  oldest().answer();
  oldest().answer();
  assertEquals((await Promise.all(calls)).map(served), ["a 200", "b 200"]);
  assertEquals(reports.map(({ fallbacks }) => fallbacks), [0, 1]);
});

Deno.test("a busy provider is not retried, and its circuit breaker does not count it", async () => {
  const { asked, world, sent, reports, gateway } = heldGateway({
    a: "max_concurrent: 1",
    more: "retry: {max_attempts: 3, initial_delay: 1s}\ncircuit_breaker: {failure_threshold: 1}",
  });
  void asked();
  for (let call = 0; call < 3; call++) assertEquals(verdictOf(await asked()), BUSY);
  assertEquals([sent.length, world.now()], [1, 0]);
  assertEquals(reports.map((report) => accessFields(report).retries), [0, 0, 0]);
  const account = gateway.generation.providers.get("a")?.accounts[0].digest ?? "";
  assertEquals(gateway.state.breakers.state(account), "closed");
});

Deno.test("without a limit no slots are counted, and no metric has a sample", async () => {
  const { asked, running, world, counts, gateway } = heldGateway({});
  for (let call = 0; call < 50; call++) void asked();
  await world.advance(0);
  assertEquals([running().length, await counts("a")], [50, [undefined, undefined]]);
  assert(!gateway.state.slots.isInUse);
});

Deno.test("a cached response takes no slot", async () => {
  const { asked, oldest, world, counts } = heldGateway({
    a: "max_concurrent: 1",
    more: "retry: {enabled: false}\ncaching: {enabled: true}",
  });
  const body = { messages: [{ role: "user", content: "same" }] };
  const first = asked({ body });
  await world.advance(0);
  oldest().answer();
  await first;
  void asked();
  await world.advance(0);
  assertEquals(await counts("a"), [1, 0]);
  const again = await asked({ body });
  assertEquals([again.status, again.headers.get("x-gateway-cache-status")], [200, "HIT"]);
});
