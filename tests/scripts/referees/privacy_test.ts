import { secondProblem } from "../../../scripts/referees/privacy.ts";
import { assert, assertEquals } from "../../support/assert.ts";

/** Both reports as the referee writes them, with these verdicts. */
function problemOf(outcomes: readonly string[], passed: boolean): string | null {
  const rows = outcomes.map((outcome) => ({ policy: "passthrough", outcome }));
  return secondProblem(JSON.stringify({ rows }), JSON.stringify({ passed }));
}

Deno.test("the benchmark of personal data is content if no value and no part of one leaked", () => {
  assertEquals(problemOf(["pass"], true), null);
});

Deno.test("a leak, a leak besides a pass, a part of a value and a run without rows are problems", () => {
  assert(problemOf(["fail"], true) !== null);
  assert(problemOf(["pass", "fail"], true) !== null);
  assert(problemOf(["pass"], false) !== null);
  assert(problemOf([], true) !== null);
});
