import fc from "fast-check";
import { reportJson } from "../../src/replay/report.ts";
import { assertEquals } from "../support/assert.ts";
import { configText, DRAWN_CALL, DRAWN_CONFIG } from "../support/drawn_calls.ts";
import { replayed } from "../support/replay.ts";

Deno.test("a set has no difference under the same file, or one with another order of providers, other keys and comments", async () => {
  await fc.assert(
    fc.asyncProperty(
      DRAWN_CONFIG,
      fc.array(DRAWN_CALL, { minLength: 1, maxLength: 5 }),
      async (config, calls) => {
        const records = calls.map((call, index) => ({ ...call, id: `call-${index}` }));
        const file = configText(config);
        const [same, turned] = [
          await replayed(records, file, file),
          await replayed(records, file, configText(config, true)),
        ];
        assertEquals([same.different, turned.different], [0, 0]);
        assertEquals(same.replayed, records.length);
      },
    ),
    { numRuns: 25 },
  );
});

Deno.test("two replays of a set give the same report, whatever the order of its lines", async () => {
  await fc.assert(
    fc.asyncProperty(
      DRAWN_CONFIG,
      DRAWN_CONFIG,
      fc.array(DRAWN_CALL, { minLength: 2, maxLength: 6 }),
      async (before, after, calls) => {
        const records = calls.map((call, index) => ({ ...call, id: `call-${index}` }));
        const files = [configText(before), configText(after)] as const;
        const first = reportJson(await replayed(records, ...files), true);
        assertEquals(reportJson(await replayed(records.toReversed(), ...files), true), first);
      },
    ),
    { numRuns: 15 },
  );
});
