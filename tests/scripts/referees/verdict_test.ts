import { EXPECTED } from "../../../scripts/referees/data.ts";
import { compare, type RedCases } from "../../../scripts/referees/verdict.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const EXPECTED_CASES: readonly RedCases[] = [{ cases: ["chat over local: *"], reason: "No PDF." }];

function verdictOf(red: readonly string[], tried = 3) {
  const found = new Map(red.map((name) => [name, "words"]));
  const { fresh, stale, isRight } = compare({ tried, red: found }, EXPECTED_CASES);
  return { fresh: fresh.map(([name]) => name), stale, isRight };
}

Deno.test("a referee is content if exactly the expected cases are red", () => {
  assertEquals(verdictOf(["chat over local: pdf"]), { fresh: [], stale: [], isRight: true });
});

Deno.test("a red case that is not expected is new", () => {
  const { fresh, isRight } = verdictOf(["chat over local: pdf", "chat over compat: pdf"]);
  assertEquals([fresh, isRight], [["chat over compat: pdf"], false]);
});

Deno.test("an expected case that is not red is named", () => {
  assertEquals(verdictOf([]), { fresh: [], stale: ["chat over local: *"], isRight: false });
});

Deno.test("a referee that tried nothing is not content", () => {
  assertEquals(verdictOf(["chat over local: pdf"], 0).isRight, false);
});

Deno.test("every expected red case of a referee has a reason", () => {
  for (const [name, expected] of Object.entries(EXPECTED)) {
    for (const { cases, reason } of expected) {
      assert(cases.length > 0 && /^[A-Z].+\.$/s.test(reason), `${name}: ${reason}`);
    }
  }
});
