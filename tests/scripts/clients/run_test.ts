import { PARTS, readResults } from "../../../scripts/clients/results.ts";
import { runClients } from "../../../scripts/clients/run.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("every npm client does on every provider type what its results say", async () => {
  const { clients } = await runClients("node");
  const expected = await readResults("node");
  assertEquals(
    clients,
    expected.clients,
    "if that is right: scripts/clients/run.ts node --write, then docs.ts",
  );
});

Deno.test("a client that is named and does not exist ends the run, in each part", async () => {
  for (const part of PARTS) {
    const problem = await runClients(part, ["missing"]).then(() => null, String);
    assertEquals(problem, "Error: missing: only 0 of them ran", part);
  }
});
