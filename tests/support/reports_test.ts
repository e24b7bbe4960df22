import { newReport } from "../../src/observe/report.ts";
import { assertEquals } from "./assert.ts";
import { newReports } from "./reports.ts";

function report(id: string) {
  return newReport(id, "POST", "/v1/responses", 0);
}

Deno.test("each wait for a report ends with it", async () => {
  const { add, reported } = newReports();
  const waits = [reported(2), reported(1), reported(2)];
  for (const id of ["a", "b"]) add(report(id));
  const ids = (await Promise.all([...waits, reported(1)])).map(({ id }) => id);
  assertEquals(ids, ["b", "a", "b", "a"]);
});

Deno.test("a wait for a report that does not come fails with the number of reports", async () => {
  const { add, reported } = newReports(1);
  add(report("a"));
  const failed = await reported(3).then(() => "", String);
  assertEquals(failed, "Error: 1 of 3 calls are over");
});
