import { assert, assertEquals } from "../support/assert.ts";
import { PHASES } from "./faults/break.ts";
import { runMatrix } from "./faults/cells.ts";
import { faultsPage } from "./faults/page.ts";

const PAGE = new URL("../../docs/reference/faults.md", import.meta.url);

Deno.test("whatever breaks in whichever phase, a call has one failure or one answer, and the fault page says which", async () => {
  const { cells, problems } = await runMatrix();
  assertEquals(problems, []);
  assert(cells.length > 1_500);
  for (const phase of PHASES) assert(cells.some(({ broken }) => broken.phase === phase), phase);
  const page = await Deno.readTextFile(PAGE);
  assertEquals(page, faultsPage(cells), "run tests/e2e/faults/write_page.ts");
  assert(page.length < 60_000);
  // A cell with another outcome is another page.
  const [first, ...rest] = cells;
  assert(first !== undefined);
  assert(page !== faultsPage([{ ...first, isRetried: !first.isRetried }, ...rest]));
});
