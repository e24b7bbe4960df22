import { assertEquals, assertMatch } from "../support/assert.ts";
import { configOf, problemsOf, withSection } from "./parse.ts";

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
