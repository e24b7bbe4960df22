import { heldGateway } from "../attempts/held_calls.ts";
import { assertEquals } from "../support/assert.ts";

const BOTH = "[{provider: a}, {provider: b}]";
const ONE = "max_concurrent: 1";
const QUEUED = "max_concurrent: 1, max_queued: 1";

Deno.test("a target at its limit is skipped while another target has a free slot", async () => {
  const { asked, running, world } = heldGateway({ a: ONE, b: "max_concurrent: 3", targets: BOTH });
  for (let call = 0; call < 4; call++) void asked();
  await world.advance(0);
  assertEquals(running(), ["a 1", "b 2", "b 3", "b 4"]);
});

Deno.test("a target whose slot is free again is chosen again", async () => {
  const { asked, running, oldest, world } = heldGateway({
    a: ONE,
    b: "max_concurrent: 2",
    targets: BOTH,
  });
  for (let call = 0; call < 3; call++) void asked();
  await world.advance(0);
  oldest().answer();
  await world.advance(0);
  assertEquals(running(), ["b 2", "b 3"]);
  void asked();
  await world.advance(0);
  assertEquals(running(), ["b 2", "b 3", "a 4"]);
});

Deno.test("a call queues when every target is at its limit, even if a fallback has a free slot", async () => {
  const { asked, running, oldest, world, counts } = heldGateway({
    a: QUEUED,
    b: QUEUED,
    targets: BOTH,
    fallback: "[{provider: c}]",
  });
  for (let call = 0; call < 4; call++) void asked();
  await world.advance(0);
  assertEquals(running(), ["a 1", "b 2"]);
  assertEquals([await counts("a"), await counts("b")], [[1, 1], [1, 1]]);
  void asked();
  await world.advance(0);
  assertEquals(running(), ["a 1", "b 2", "c 5"], "both queues are full: only now the fallback");
  oldest().answer();
  await world.advance(0);
  assertEquals(running(), ["b 2", "c 5", "a 4"]);
});

Deno.test("a call queues at a target whose queue has room", async () => {
  const { asked, running, world, counts } = heldGateway({ a: QUEUED, b: ONE, targets: BOTH });
  for (let call = 0; call < 3; call++) void asked();
  await world.advance(0);
  assertEquals(running(), ["a 1", "b 2"]);
  assertEquals([await counts("a"), await counts("b")], [[1, 1], [1, 0]]);
});

Deno.test("a call queues at a busy target rather than going to a target with an open breaker", async () => {
  const { asked, running, gateway, world, counts } = heldGateway({
    a: QUEUED,
    targets: BOTH,
    more: "retry: {enabled: false}\ncircuit_breaker: {failure_threshold: 1}",
  });
  const { config, providers } = gateway.generation;
  const account = providers.get("b")?.accounts[0].digest ?? "";
  const permit = gateway.state.breakers.admit(account, config.circuit_breaker);
  if ("end" in permit) permit.end("failure");
  void asked();
  void asked();
  await world.advance(0);
  assertEquals([running(), await counts("a")], [["a 1"], [1, 1]]);
});

Deno.test("a fallback at its limit is skipped while a later fallback is free, otherwise the call queues", async () => {
  const { asked, running, world, sent, counts, reports } = heldGateway({
    b: "max_concurrent: 1, max_queued: 5",
    c: QUEUED,
    fallback: "[{provider: b}, {provider: c}]",
  });
  for (let call = 0; call < 4; call++) void asked();
  await world.advance(0);
  for (const one of sent.slice()) one.answer(501, "");
  await world.advance(0);
  assertEquals(running(), ["b 1", "c 2"]);
  assertEquals([await counts("b"), await counts("c")], [[1, 2], [1, 0]]);
  assertEquals(reports, []);
});

Deno.test("a skipped fallback is tried when the free fallback fails", async () => {
  const { asked, running, oldest, world } = heldGateway({
    b: "max_concurrent: 1, max_queued: 5",
    fallback: "[{provider: b}, {provider: c}]",
  });
  const calls = [asked(), asked()];
  await world.advance(0);
  oldest().answer(501, "");
  oldest().answer(501, "");
  await world.advance(0);
  assertEquals(running(), ["b 1", "c 2"]);
  oldest().answer();
  oldest().answer(501, "");
  await world.advance(0);
  assertEquals(running(), ["b 2"]);
  oldest().answer();
  assertEquals((await Promise.all(calls)).map(({ status }) => status), [200, 200]);
});

Deno.test("a busy fallback is skipped also when all candidates are fallbacks", async () => {
  // Type local keeps no logprobs, so that no target can take the call.
  const gateway = heldGateway(`
providers:
  a: {type: local, base_url: "http://a"}
  b: {type: compat, base_url: "http://b", max_concurrent: 1, max_queued: 5}
  c: {type: compat, base_url: "http://c", max_concurrent: 1, max_queued: 5}
routing:
  routes: [{name: r, targets: [{provider: a}], fallback: [{provider: b}, {provider: c}]}]
retry: {enabled: false}
`);
  const { asked, running, world, counts } = gateway;
  for (let call = 0; call < 3; call++) void asked({ body: { store: true, logit_bias: { 1: 1 } } });
  await world.advance(0);
  assertEquals(running(), ["b 1", "c 2"]);
  assertEquals([await counts("b"), await counts("c")], [[1, 1], [1, 0]]);
});
