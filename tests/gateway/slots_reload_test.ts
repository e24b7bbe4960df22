import { heldGateway } from "../attempts/held_calls.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a higher limit admits queued calls immediately, a lower limit counts running attempts", async () => {
  const { asked, running, oldest, world, serve, counts } = heldGateway({
    a: "max_concurrent: 1, max_queued: 9",
  });
  for (let call = 0; call < 5; call++) void asked();
  await world.advance(0);
  serve({ a: "max_concurrent: 3, max_queued: 9" });
  await world.advance(0);
  assertEquals([running(), await counts("a")], [["a 1", "a 2", "a 3"], [3, 2]]);
  serve({ a: "max_concurrent: 2, max_queued: 9" });
  oldest().answer();
  await world.advance(0);
  assertEquals([running(), await counts("a")], [["a 2", "a 3"], [2, 2]]);
  oldest().answer();
  await world.advance(0);
  assertEquals(running(), ["a 3", "a 4"]);
});

Deno.test("a new limit holds for the retries of a call that began under the old one", async () => {
  const more = "retry: {max_attempts: 2, initial_delay: 1s}";
  const { asked, running, oldest, world, serve, counts } = heldGateway({ more });
  void asked();
  void asked();
  await world.advance(0);
  serve({ a: "max_concurrent: 1, max_queued: 9", more });
  void asked();
  await world.advance(0);
  assertEquals(await counts("a"), [1, 0], "what began without a limit is not counted");
  oldest().answer(503, "");
  oldest().answer(503, "");
  await world.advance(2_000);
  assertEquals([running(), await counts("a")], [["a 3"], [1, 2]]);
});

Deno.test("a removed limit admits every queued call", async () => {
  const { asked, running, world, serve, counts } = heldGateway({
    a: "max_concurrent: 1, max_queued: 9",
  });
  for (let call = 0; call < 4; call++) void asked();
  await world.advance(0);
  serve({});
  await world.advance(0);
  assertEquals([running().length, await counts("a")], [4, [undefined, undefined]]);
});

Deno.test("another setting of the provider keeps its count, another key begins a new one", async () => {
  const { asked, running, world, serve, counts } = heldGateway({ a: "max_concurrent: 1" });
  void asked();
  await world.advance(0);
  serve({ a: "max_concurrent: 1, max_queued: 1, timeout: 5s" });
  void asked();
  await world.advance(0);
  assertEquals([running(), await counts("a")], [["a 1"], [1, 1]]);
  serve({ a: "max_concurrent: 1, api_key: changed" });
  void asked();
  await world.advance(0);
  assertEquals([running(), await counts("a")], [["a 1", "a 3"], [1, 0]]);
});

Deno.test("two providers of one account have limits of their own", async () => {
  const { asked, running, world } = heldGateway(`
providers:
  small: {type: compat, base_url: "http://up", max_concurrent: 1}
  large: {type: compat, base_url: "http://up", max_concurrent: 2}
routing:
  routes:
    - {name: small, match: {models: [small]}, targets: [{provider: small}]}
    - {name: large, targets: [{provider: large}]}
`);
  const answers = ["small", "large", "small", "large", "large"]
    .map((model) => asked({ body: { model } }));
  await world.advance(0);
  assertEquals(running(), ["up 1", "up 2", "up 4"]);
  const [, , third, , fifth] = answers;
  assertEquals([(await third)?.error.code, (await fifth)?.error.code], [
    "provider_busy",
    "provider_busy",
  ]);
});
