import { assertEquals, assertStringIncludes } from "../support/assert.ts";
import { configFile, ran } from "./test_terminal.ts";

const KEYS = Array.from({ length: 9 }, (_, n) => `{name: team-${n}, value: secret-${n}}`);

async function explained(strategy: string, ...words: readonly string[]) {
  using file = await configFile(`
providers:
  a: {type: compat, base_url: "http://127.0.0.1:1"}
  b: {type: compat, base_url: "http://127.0.0.1:2"}
routing:
  routes: [{name: r, strategy: ${strategy}, targets: [{provider: a, weight: 3}, {provider: b}]}]
security: {enabled: true, api_key: {keys: [${KEYS.join(", ")}]}}
`);
  const { code, out } = await ran(["explain", "--config", file.path, "--model", "m", ...words]);
  assertEquals(code, 0, out);
  return out;
}

Deno.test("explain says what least-pending and lowest-latency see", async () => {
  const pending = await explained("least-pending");
  assertStringIncludes(pending, "    75%    a/m:");
  assertStringIncludes(pending, "  The target with the fewest running calls per weight serves the");
  const latency = await explained("lowest-latency");
  assertStringIncludes(latency, "    any    a/m:");
  assertStringIncludes(
    latency,
    "  The target with the lowest median time to the first byte serves",
  );
  assertStringIncludes(latency, "5% of the requests explore other targets.");
});

Deno.test("explain names the target of a sticky session, the same one each time", async () => {
  const open = await explained("sticky");
  assertStringIncludes(
    open,
    "  The session, else the client key, stays with",
  );
  const targets = new Set<string>();
  for (let n = 0; n < 20; n++) {
    const header = ["--header", `X-Gateway-SessionID=s${n}`];
    const [first, second] = [
      await explained("sticky", ...header),
      await explained("sticky", ...header),
    ];
    assertEquals(first, second);
    targets.add(/The session stays with (\w)/.exec(first)?.[1] ?? "");
  }
  assertEquals(targets, new Set(["a", "b"]));
});

Deno.test("explain names the target of a sticky client key", async () => {
  const targets = new Set<string>();
  for (let n = 0; n < KEYS.length; n++) {
    const out = await explained("sticky", "--key", `team-${n}`);
    targets.add(/The client key stays with (\w)/.exec(out)?.[1] ?? "");
  }
  assertEquals(targets, new Set(["a", "b"]));
});

Deno.test("explain says nothing of the strategy if only one target is able to serve", async () => {
  const out = await explained("least-pending", "--provider", "b");
  assertEquals(out.includes("fewest running calls"), false);
});
