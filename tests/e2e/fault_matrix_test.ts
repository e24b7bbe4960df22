import { assert, assertEquals } from "../support/assert.ts";
import { PHASES } from "./faults/break.ts";
import { runMatrix } from "./faults/cells.ts";
import { runLeaves } from "./faults/leaving.ts";
import { MOMENTS } from "./faults/moments.ts";
import { faultsPage } from "./faults/page.ts";

const PAGE = new URL("../../docs/reference/faults.md", import.meta.url);

Deno.test("whatever breaks and whenever a client leaves, a call has one failure or one answer, and the fault page says which", async () => {
  const { cells, problems } = await runMatrix();
  assertEquals(problems, []);
  assert(cells.length > 1_500);
  for (const phase of PHASES) assert(cells.some(({ broken }) => broken.phase === phase), phase);
  const leaves = await runLeaves();
  const modes = { early: await runMatrix("early"), held: await runMatrix("held") };
  assertEquals([...modes.early.problems, ...modes.held.problems], []);
  const shown = { early: modes.early.cells, held: modes.held.cells };
  assert(shown.early.length > 900 && shown.held.length > 300);
  for (const { name } of MOMENTS) assert(leaves.some(({ moment }) => moment === name), name);
  const page = await Deno.readTextFile(PAGE);
  assertEquals(page, faultsPage(cells, leaves, shown), "run tests/e2e/faults/write_page.ts");
  assert(page.length < 60_000);
  // A cell with another outcome is another page.
  const [first, ...rest] = cells;
  assert(first !== undefined);
  assert(page !== faultsPage([{ ...first, isRetried: !first.isRetried }, ...rest], leaves, shown));
  const [left, ...others] = leaves;
  assert(left !== undefined);
  assert(page !== faultsPage(cells, [{ ...left, upstream: "answered" }, ...others], shown));
});
