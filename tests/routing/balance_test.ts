import { assertEquals } from "../support/assert.ts";
import { type Asked, type Routed, routed } from "./routed.ts";

async function times(gateway: Routed, count: number, asked: Asked = {}): Promise<string> {
  const before = gateway.upstream.length;
  for (let call = 0; call < count; call++) await gateway.ask(asked);
  return gateway.upstream.slice(before).map((name) => name[0]).join("");
}

const WEIGHTS =
  "targets: [{provider: a, weight: 5}, {provider: b, weight: 1}, {provider: c, weight: 1}]";

Deno.test("weighted gives exact shares in every window and spreads them", async () => {
  const order = await times(routed(`[{name: r, ${WEIGHTS}}]`), 70);
  for (let at = 0; at + 7 <= order.length; at++) {
    const window = order.slice(at, at + 7);
    assertEquals([...window].sort().join(""), "aaaaabc");
  }
});

Deno.test("weighted is the default, and equal weights alternate", async () => {
  const gateway = routed("[{name: r, targets: [{provider: a}, {provider: b}]}]");
  assertEquals(await times(gateway, 6), "ababab");
});

Deno.test("weighted shares are exact among a hundred calls at once", async () => {
  const gateway = routed(
    "[{name: r, targets: [{provider: a, weight: 3}, {provider: b, weight: 1}]}]",
  );
  await Promise.all(Array.from({ length: 100 }, () => gateway.ask()));
  assertEquals(gateway.upstream.filter((name) => name === "a/m").length, 75);
  assertEquals(gateway.upstream.length, 100);
});

Deno.test("round-robin takes turns whatever the weights are", async () => {
  const gateway = routed(`[{name: r, strategy: round-robin, ${WEIGHTS}}]`);
  assertEquals(await times(gateway, 9), "abcabcabc");
});

Deno.test("random draws by weight", async () => {
  const random = [0, 0.7, 0.72, 0.85, 0.86, 0.99];
  const gateway = routed(`[{name: r, strategy: random, ${WEIGHTS}}]`, { random });
  assertEquals(await times(gateway, 6), "aabbcc");
});

Deno.test("every route has its own round-robin position", async () => {
  const gateway = routed(`
    - {name: one, match: {models: [x]}, targets: [{provider: a}, {provider: b}]}
    - {name: two, targets: [{provider: a}, {provider: b}]}`);
  const body = { model: "x" };
  assertEquals(await times(gateway, 1, { body }), "a");
  assertEquals(await times(gateway, 1), "a");
  assertEquals(await times(gateway, 1, { body }), "b");
});

Deno.test("only the eligible targets share the calls", async () => {
  const gateway = routed(`[{name: r, ${WEIGHTS}}]`);
  assertEquals(await times(gateway, 3, { body: { model: "c/m" } }), "ccc");
});

Deno.test("targets with an open breaker are skipped while another target can take the request", async () => {
  const gateway = routed("[{name: r, targets: [{provider: a}, {provider: b}]}]", {
    failing: { a: 501 },
    settings: "circuit_breaker: {failure_threshold: 1}",
  });
  // The first call continues to b.
  assertEquals(await times(gateway, 6), "abbbbbb");
  const { status, error } = await gateway.ask({ body: { model: "a/m" } });
  assertEquals([status, error.code], [503, "circuit_open"]);
});
