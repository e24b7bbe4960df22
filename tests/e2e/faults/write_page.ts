import { runMatrix } from "./cells.ts";
import { runLeaves } from "./leaving.ts";
import { faultsPage } from "./page.ts";

// Writes docs/reference/faults.md from a run of each cell.

const PAGE = new URL("../../../docs/reference/faults.md", import.meta.url);

const [{ cells, problems }, early, held] = [
  await runMatrix(),
  await runMatrix("early"),
  await runMatrix("held"),
];
const all = [...problems, ...early.problems, ...held.problems];
for (const problem of all) console.error(problem);
if (all.length > 0) Deno.exit(1);
const modes = { early: early.cells, held: held.cells };
await Deno.writeTextFile(PAGE, faultsPage(cells, await runLeaves(), modes));
