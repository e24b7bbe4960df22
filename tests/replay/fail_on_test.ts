import { isFailing, parseFailOn, USUAL_FAIL_ON } from "../../src/replay/fail_on.ts";
import type { DifferenceKind } from "../../src/replay/difference.ts";
import type { Report } from "../../src/replay/report.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** A report with these counts and costs. */
function reportOf(
  counts: Partial<Record<DifferenceKind, number>>,
  cost: Partial<Report["cost"]> = {},
): Report {
  const entries = Object.entries(counts) as [DifferenceKind, number][];
  return {
    config: { before: "", after: "" },
    records: 1,
    replayed: 1,
    different: 1,
    skipped: new Map(),
    skippedIds: new Map(),
    counts: new Map(entries),
    groups: [],
    cost: { before: 0, after: 0, lost: 0, ...cost },
  };
}

function fails(text: string, report: Report): boolean {
  const failOn = parseFailOn(text);
  assert(failOn !== null, text);
  return isFailing(failOn, report);
}

Deno.test("only differences of the named kinds fail a replay", () => {
  const changed = reportOf({ request: 1, cost: 1 });
  assertEquals(
    [USUAL_FAIL_ON, "none", "any", "request", "route,cost", "route"].map((one) =>
      fails(one, changed)
    ),
    [false, false, true, true, true, false],
  );
  for (const kind of ["refused", "error", "key", "lossy"] as const) {
    assert(fails(USUAL_FAIL_ON, reportOf({ [kind]: 1 })), kind);
  }
});

Deno.test("cost:+10% fails at 10.1 % and passes at 9.9 %, and fails where a price is not known any more", () => {
  const at = (after: number, lost = 0) =>
    fails("cost:+10%", reportOf({ cost: 1 }, { before: 1_000, after, lost }));
  assertEquals([at(1_101), at(1_100), at(1_099), at(500), at(500, 1)], [
    true,
    false,
    false,
    false,
    true,
  ]);
  assert(fails("cost:+10%", reportOf({ cost: 1 }, { before: 0, after: 1 })));
});

Deno.test("any other word is no kind", () => {
  for (const text of ["", "refuse", "any,route", "cost:10%", "cost:+x%", "cost:+10", "refused,"]) {
    assertEquals(parseFailOn(text), null, text);
  }
});
