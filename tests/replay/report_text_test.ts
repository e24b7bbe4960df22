import { reportText } from "../../src/replay/report_text.ts";
import { assertStringIncludes } from "../support/assert.ts";

Deno.test("a cost of less than a millionth of a dollar is written without an exponent", () => {
  const text = reportText({
    config: { before: "", after: "" },
    records: 1,
    replayed: 1,
    different: 1,
    skipped: new Map(),
    skippedIds: new Map(),
    counts: new Map([["cost", 1]]),
    groups: [],
    cost: { before: 7_000, after: 900, lost: 0 },
  }, { showsContent: false, namesAll: false });
  assertStringIncludes(text, "cost 1 (0.000007 -> 0.0000009 USD, -87.1 %)");
});
