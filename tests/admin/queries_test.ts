import { readUsage } from "../../src/admin/queries.ts";
import { success } from "../../src/core/failure/result.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { testAdmin } from "../support/admin.ts";
import { oneProvider } from "../support/gateway.ts";
import { heldTurns } from "../support/held_turns.ts";
import { scriptedWorld } from "../support/world.ts";
import { usageRow } from "../store/conformance/usage.ts";

Deno.test("usage of very many names lets other work have its turn between its pieces", async () => {
  const { gateway } = testAdmin(oneProvider("http://up"), scriptedWorld());
  const rows = Array.from({ length: 3_000 }, (_, at) => usageRow({ model: `m${at}` }));
  for (const format of ["json", "csv"]) {
    const held = heldTurns("rest");
    const usage = { ...gateway.state.usage, read: () => Promise.resolve(success(rows)) };
    const state = { ...gateway.state, usage, turns: held.turns };
    const read = readUsage(new URLSearchParams({ format }), { ...gateway, state });
    await held.waits(1);
    const { status, text } = await held.beginUntil(read);
    assertEquals([status, text.match(/\bm\d+/g)?.length], [200, rows.length]);
    assert(held.kinds.length >= 3 * rows.length / 256, `${held.kinds.length} turns`);
  }
});
