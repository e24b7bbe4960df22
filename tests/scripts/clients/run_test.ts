import { readResults } from "../../../scripts/clients/results.ts";
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
