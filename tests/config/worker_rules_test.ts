import { assertEquals, assertMatch } from "../support/assert.ts";
import { workerProblems } from "../../src/config/worker_rules.ts";
import { configOf, problemsOf, warningsOf, withSection } from "./parse.ts";

function workersOf(written: string): number | "auto" {
  return configOf(withSection(`server: {workers: ${written}}`, "state: {store: none}")).server
    .workers;
}

Deno.test("server.workers is 1 by default, and a number up to 64 or auto", () => {
  assertEquals(configOf(withSection()).server.workers, 1);
  assertEquals(["1", "2", "64", '"8"', "auto"].map(workersOf), [1, 2, 64, 8, "auto"]);
  for (const written of ["0", "65", "-1", "1.5", "many", "true"]) {
    assertMatch(
      problemsOf(withSection(`server: {workers: ${written}}`)).join("\n"),
      /^server\.workers: must be auto or a number from 1 to 64 \(/,
    );
  }
});

Deno.test("several workers with a store of one process are a problem that names valkey and none", () => {
  for (const workers of ["2", "auto", '"3"']) {
    for (const store of ["", "state: {store: memory}", "state: {store: sqlite}"]) {
      const name = store.includes("sqlite") ? "sqlite" : "memory";
      const [problem = "", ...more] = problemsOf(
        withSection(`server: {workers: ${workers}}`, store),
      );
      assertEquals(more, []);
      assertMatch(
        problem,
        new RegExp(`^server\\.workers: must be 1 while state\\.store is ${name}, `),
      );
      assertMatch(problem, /set state\.store to valkey, .* or to none, /);
    }
    for (const store of ["valkey", "none"]) {
      assertEquals(
        problemsOf(withSection(`server: {workers: ${workers}}`, `state: {store: ${store}}`)),
        [],
      );
    }
  }
  assertEquals(problemsOf(withSection("server: {workers: 1}", "state: {store: sqlite}")), []);
});

Deno.test("several workers with the admin page are a problem, because the page shows a single process", () => {
  const state = { store: "none" };
  const problems = (workers: number | string, enabled: boolean | string) =>
    workerProblems({ server: { workers }, state, admin: { enabled } }).map(({ text }) => text);
  assertMatch(problems(2, true).join(), /must be 1 while admin\.enabled is true/);
  assertMatch(problems("auto", "true").join(), /must be 1 while admin\.enabled is true/);
  const file = withSection(
    "server: {workers: 2}",
    "state: {store: none}",
    "admin: {enabled: true}",
  );
  assertMatch(problemsOf(file).join(), /^server\.workers: must be 1 while admin\.enabled is true/);
  assertEquals([problems(1, true), problems(2, false)], [[], []]);
});

Deno.test("a divided limit below the number of workers is warned of, because each worker permits 1", () => {
  const text = (store: string, workers: number) => `
server: {workers: ${workers}}
state: {store: ${store}}
rate_limiting: {enabled: true, requests_per_minute: 60, burst_size: 2}
providers: {sim: {type: compat, base_url: "http://127.0.0.1:1", max_concurrent: 2}}
routing: {routes: [{name: all, targets: [{provider: sim}]}]}
`;
  const places = (store: string, workers: number) =>
    warningsOf(text(store, workers)).filter((line) => line.includes("server.workers"))
      .map((line) => line.slice(0, line.indexOf(":")));
  assertEquals(places("none", 3), ["rate_limiting.burst_size", "providers.sim.max_concurrent"]);
  assertEquals(places("valkey", 3), ["providers.sim.max_concurrent"]);
  assertEquals([places("none", 2), places("none", 1)], [[], []]);
});

Deno.test("body memory with less room than an upload for each worker is warned of, with what all may hold together", () => {
  const warnings = (server: string) =>
    warningsOf(withSection(`server: {${server}}`, "state: {store: none}")).filter((line) =>
      line.startsWith("server.max_body_memory")
    );
  const [warning = ""] = warnings("workers: 4, max_body_memory: 1000, max_upload: 300");
  assertMatch(warning, /each of the 4 workers has room for one upload, .* may hold 1200 bytes/);
  assertEquals(warnings("workers: 4, max_body_memory: 1200, max_upload: 300"), []);
  assertEquals(warnings("workers: 1, max_body_memory: 1, max_upload: 300"), []);
  assertEquals(warnings("workers: auto, max_body_memory: 1, max_upload: 300"), []);
});

Deno.test("every divided limit below the number of workers is warned of, also of keys, groups, budgets and the cache", () => {
  const text = (store: string, value: number) => `
server: {workers: 3, max_concurrent_requests: ${value}, max_sockets_per_client: ${value}}
state: {store: ${store}${store === "valkey" ? ', valkey: {url: "valkey://127.0.0.1"}' : ""}}
caching: {enabled: true, max_size: ${value}}
security:
  enabled: true
  api_key:
    keys:
      - name: ada
        value: key-of-ada
        requests_per_minute: ${value}
        tokens_per_minute: ${value}
        max_concurrent: ${value}
        budgets: [{per: week, usd: 1}, {per: day, tokens: ${value}}]
  groups:
    - {name: all, keys: [ada], tokens_per_minute: ${value}, budgets: [{per: day, tokens: ${value}}]}
providers: {sim: {type: compat, base_url: "http://127.0.0.1:1", max_concurrent: ${value}, max_queued: ${value}}}
routing: {routes: [{name: all, targets: [{provider: sim}]}]}
`;
  const places = (store: string, value: number) =>
    warningsOf(text(store, value)).filter((line) => line.includes("server.workers"))
      .map((line) => line.slice(0, line.indexOf(":"))).toSorted();
  const ofProcess = [
    "caching.max_size",
    "providers.sim.max_concurrent",
    "providers.sim.max_queued",
    "server.max_concurrent_requests",
    "server.max_sockets_per_client",
  ];
  assertEquals(places("valkey", 2), ofProcess);
  assertEquals(
    places("none", 2),
    [
      ...ofProcess,
      "security.api_key.keys[0].budgets[1].tokens",
      "security.api_key.keys[0].max_concurrent",
      "security.api_key.keys[0].requests_per_minute",
      "security.api_key.keys[0].tokens_per_minute",
      "security.groups[0].budgets[0].tokens",
      "security.groups[0].tokens_per_minute",
    ].toSorted(),
  );
  assertEquals([places("none", 3), places("valkey", 3)], [[], []]);
});
