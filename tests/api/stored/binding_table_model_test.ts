import fc from "fast-check";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { type BindingTable, KEYS, newBindingTable, PROVIDERS } from "./binding_table.ts";

type Step = (table: BindingTable) => Promise<void> | void;

const id = fc.constantFrom("x", "y", "z");
const type = fc.constantFrom("response", "chat_completion", "conversation");
const provider = fc.constantFrom(...PROVIDERS);
const named = fc.option(provider, { freq: 2 });
const key = fc.constantFrom(...KEYS);
const minutes = fc.integer({ min: 1, max: DEFAULT_RETENTION.ttlMs / 60_000 });

const STEPS: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(type, provider, id).map((step): Step => (table) => table.create(...step)),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(type, id, named).map((step): Step => (table) => table.retrieve(...step)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(type, id, named).map((step): Step => (table) => table.remove(...step)),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(id, id, named).map((step): Step => (table) => table.follow(...step)),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(id, named).map((step): Step => (table) => table.associate(...step)),
  },
  fc.tuple(provider, key).map((step): Step => (table) => table.change(...step)),
  minutes.map((count): Step => (table) => table.pass(count * 60_000)),
);

Deno.test("no request reaches an account that is neither the owner nor named", async () => {
  const property = fc.asyncProperty(
    fc.array(STEPS, { minLength: 10, maxLength: 50 }),
    async (steps) => {
      const table = newBindingTable();
      for (const step of steps) await step(table);
    },
  );
  await fc.assert(property, { numRuns: 100 });
});
