import { runMatrix } from "./cells.ts";
import { runLeaves } from "./leaving.ts";
import { faultsPage } from "./page.ts";

// Writes docs/reference/faults.md from a run of each cell.

const PAGE = new URL("../../../docs/reference/faults.md", import.meta.url);

const { cells, problems } = await runMatrix();
for (const problem of problems) console.error(problem);
if (problems.length > 0) Deno.exit(1);
await Deno.writeTextFile(PAGE, faultsPage(cells, await runLeaves()));
