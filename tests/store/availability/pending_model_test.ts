import fc from "fast-check";
import type { Caller, Owner } from "../../../src/store/bindings.ts";
import { newMemoryObjectStore } from "../../../src/store/memory/object_store.ts";
import { newDirectOutcomes, type OutcomeStore } from "../../../src/store/outcome_store.ts";
import type { ObjectStore } from "../../../src/store/object_store.ts";
import { assertEquals } from "../../support/assert.ts";
import { newOutageStore } from "../../support/outage.ts";
import type { Outage } from "../../support/switched_store.ts";
import { scriptedWorld } from "../../support/world.ts";

const IDS = ["r1", "r2"] as const;

/** One write of a client, or a switch of the store. */
type Step =
  | { readonly kind: "store" | "bind" | "unbind"; readonly id: string; readonly by: string }
  | { readonly kind: "leave"; readonly outage: Outage }
  | { readonly kind: "back" };

const id = fc.constantFrom(...IDS);
const by = fc.constantFrom("ada", "bob");
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom("store", "bind", "unbind"), id, by }),
  fc.record({ kind: fc.constant("leave"), outage: fc.constantFrom("refusing", "deaf") }),
  fc.constant<Step>({ kind: "back" }),
);

function ownerOf(name: string): Owner {
  return { provider: name, account: `account of ${name}`, origin: null, creator: name };
}

async function write(
  { objects, outcomes }: { readonly objects: ObjectStore; readonly outcomes: OutcomeStore },
  { kind, id, by: name }: Extract<Step, { readonly id: string }>,
): Promise<unknown> {
  const owner = ownerOf(name);
  const caller: Caller = { name, isIsolated: true };
  switch (kind) {
    case "store": {
      const resource = { id, output: [], by: name };
      const snapshot = { resource, input: [{ id: `in ${id}` }] };
      return await outcomes.storeResponse(id, { owner, snapshot, isNative: false }, caller);
    }
    case "bind":
      return await outcomes.bind("response", id, owner);
    case "unbind":
      return await objects.responses.unbind(id, owner.account, caller);
  }
}

/** Returns both responses as a client finds them. */
async function found({ responses }: ObjectStore): Promise<readonly unknown[]> {
  return await Promise.all(IDS.map((one) => responses.find(one)));
}

Deno.test("whenever the store leaves and returns, it holds in the end what it would hold without outages", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const world = scriptedWorld();
      const { raw, store, losses } = newOutageStore(world);
      const expected = newMemoryObjectStore(() => world.now());
      const model = { objects: expected, outcomes: newDirectOutcomes(expected) };
      let isAway = false;
      await store.start();
      for (const one of steps) {
        if (one.kind === "leave") {
          isAway = true;
          raw.leave(one.outage);
        } else if (one.kind === "back") {
          isAway = false;
          raw.comeBack();
          await world.advance(1_000);
          // While the store is unavailable, deletes are refused: see the tests of what waits.
        } else if (one.kind !== "unbind" || !isAway) {
          await write(model, one);
          await write(store, one);
        }
      }
      raw.comeBack();
      await world.advance(1_000);
      assertEquals(await found(store.objects), await found(expected));
      assertEquals(await found(raw.objects), await found(expected));
      assertEquals([losses, store.availability.pendingWrites()], [[], 0]);
      await store.close();
    }),
    { numRuns: 100 },
  );
});
