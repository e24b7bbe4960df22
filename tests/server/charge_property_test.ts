import fc from "fast-check";
import { assert, assertEquals } from "../support/assert.ts";
import { type Attempt, ENDS, FAILED_ENDS, OPERATIONS, type Script } from "./charge/operations.ts";
import { runScript } from "./charge/script.ts";
import type { Counts, Shape } from "./charge/shape.ts";
import { SHAPES } from "./charge/shapes.ts";

const count = fc.integer({ min: 1, max: 1_000 });
const counts = { input: count, output: count, cached: fc.nat(1_000) };
const script: fc.Arbitrary<Script> = fc.record({
  operation: fc.constantFrom(...OPERATIONS),
  stream: fc.boolean(),
  attempts: fc.array(
    fc.record({ end: fc.constantFrom(...FAILED_ENDS), ...counts }) as fc.Arbitrary<Attempt>,
    { maxLength: 6 },
  ),
  last: fc.record(counts) as fc.Arbitrary<Counts>,
  end: fc.constantFrom(...ENDS),
  zeros: fc.constantFrom("none", "early", "late"),
  hasOther: fc.boolean(),
  hasBreaker: fc.boolean(),
  isRepeated: fc.boolean(),
});

Deno.test("what the provider reports is charged, of every attempt, however the call ends", async () => {
  await fc.assert(
    fc.asyncProperty(script, async (one) => {
      const { stream }: Shape = SHAPES[one.operation.shape];
      const drawn = { ...one, stream: one.stream && stream !== null };
      const { quotas, metrics, usage, reports, reported } = await runScript(drawn);
      assert(reported.length > 0, "nothing was sent");
      const charged = { tokens: 0, nanoUsd: 0 };
      for (const { counts } of reported) {
        if (counts === null) continue;
        const { input, output, cached } = counts;
        charged.tokens += input + output;
        charged.nanoUsd += (2 * (input - cached) + cached + output) * 1_000;
      }
      const isPartial = reported.some(({ isPartial }) => isPartial);
      assertEquals(quotas, isPartial ? quotas : charged);
      assertEquals([metrics, usage], [quotas, quotas]);
      if (isPartial) assert(quotas.tokens >= charged.tokens && quotas.nanoUsd >= charged.nanoUsd);
      // Zeros of a provider do not make text free.
      const hasUncounted = reported.some(({ hasText, isPartial }) => hasText && isPartial);
      if (hasUncounted) assert(quotas.tokens > charged.tokens, "text that was free");
      const { hasUnits }: Shape = SHAPES[drawn.operation.shape];
      if (hasUnits === undefined) assertEquals(reports.at(-1)?.estimated, isPartial);
    }),
    { numRuns: 300, seed: 1, endOnFailure: true },
  );
});
