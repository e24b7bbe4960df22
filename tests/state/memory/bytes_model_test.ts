import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/json.ts";
import { newMemoryObjectStore } from "../../../src/state/memory/object_store.ts";
import type { ObjectStore } from "../../../src/state/object_store.ts";
import { heldBytes, reasoningBounds } from "../../../src/state/retention.ts";
import { outputOf, type Snapshot } from "../../../src/state/snapshots.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { SHARING } from "../conformance/harness.ts";

const KIB = 1024;
const RETENTION = { ttlMs: 1_000, maxObjects: 4, maxBytes: 64 * KIB };
const IDS = ["a", "b", "c", "d", "e", "f"] as const;
const OWNER = { provider: "p", account: "a", origin: null, creator: null };

/** Bytes that a response counts for each reference to an item. */
const REFERENCE_BYTES = 16;

type Step = (objects: ObjectStore) => Promise<unknown>;

/** Item objects that responses and conversations share, some of them large. */
const ITEMS: readonly JsonObject[] = [10, 10, 100, 5 * KIB, 20 * KIB, 30 * KIB, 70 * KIB].map(
  (bytes, at) => ({ id: `i${at}`, text: "é".repeat(bytes / 2) }),
);

const id = fc.constantFrom(...IDS);
const items = fc.array(fc.constantFrom(...ITEMS), { maxLength: 4 });
const distinct = fc.uniqueArray(fc.constantFrom(...ITEMS), { maxLength: 3 });
const steps: readonly fc.Arbitrary<Step>[] = [
  fc.tuple(id, items, items).map(([id, input, output]): Step => ({ responses }) => {
    const snapshot = { resource: { id, output }, input };
    return responses.store(id, { owner: OWNER, snapshot, isNative: true }, SHARING);
  }),
  // The next turn of a dialogue has the item objects of the earlier one.
  fc.tuple(id, id, items).map(([from, id, added]): Step => async ({ responses }) => {
    const earlier = (await stored(responses.find(from)))?.snapshot;
    const history = earlier ? [...earlier.input, ...outputOf(earlier)] : [];
    const snapshot = { resource: { id }, input: [...history.slice(0, 50), ...added] };
    return responses.store(id, { owner: OWNER, snapshot, isNative: false }, SHARING);
  }),
  id.map((id): Step => ({ responses }) => responses.unbind(id, "a", SHARING)),
  id.map((id): Step => ({ responses }) => responses.bind(id, { ...OWNER, account: "b" })),
  fc.tuple(id, distinct).map(([id, items]): Step => ({ conversations }) =>
    conversations.create({ id, creator: null, createdAt: 0, metadata: { id }, items })
  ),
  fc.tuple(id, distinct).map(([id, items]): Step => ({ conversations }) =>
    conversations.append(id, items)
  ),
  fc.tuple(id, fc.nat(6)).map(([id, at]): Step => ({ conversations }) =>
    conversations.removeItem(id, `i${at}`)
  ),
  fc.tuple(id, fc.string()).map(([id, text]): Step => ({ conversations }) =>
    conversations.setMetadata(id, { text })
  ),
  id.map((id): Step => ({ conversations }) => conversations.delete(id)),
  fc.tuple(id, fc.constantFrom(...ITEMS)).map(([calls, value]): Step => ({ reasoning }) => {
    const blocks = [{ value, callsBefore: 0 }];
    return reasoning.store({ creator: calls.slice(0, 1), calls, text: "t" }, {
      account: "a",
      blocks,
    });
  }),
];

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** Recounts responses: their own bytes, and each item object once. */
async function recountResponses({ responses }: ObjectStore): Promise<number> {
  const held = new Set<JsonObject>();
  let bytes = 0;
  for (const id of IDS) {
    const snapshot: Snapshot | null = (await stored(responses.find(id)))?.snapshot ?? null;
    if (snapshot === null) continue;
    const all = [...snapshot.input, ...outputOf(snapshot)];
    const { output, ...rest } = snapshot.resource;
    const own = output === undefined ? rest : { ...rest, output: [] };
    bytes += heldBytes(id) + heldBytes(own) + all.length * REFERENCE_BYTES;
    for (const item of all) held.add(item);
  }
  return bytes + sum([...held].map(heldBytes));
}

async function recountConversations({ conversations }: ObjectStore): Promise<number> {
  let bytes = 0;
  for (const id of IDS) {
    const found = await stored(conversations.find(id));
    if (found === null) continue;
    const own = heldBytes(id) + heldBytes({ ...found.metadata }) + sum(found.items.map(heldBytes));
    assertEquals(found.bytes, own);
    bytes += own;
  }
  return bytes;
}

/** Recounts reasoning. A lookup is a use, so this is done at the end. */
async function recountReasoning({ reasoning }: ObjectStore): Promise<number> {
  const keys = IDS.map((calls) => ({ creator: calls.slice(0, 1), calls, text: "t" }));
  const found = await stored(reasoning.find(keys));
  return sum(found.map((one, at) => {
    if (one === null) return 0;
    const { creator, calls, text } = keys[at] ?? { creator: "", calls: "", text: "" };
    const name = `${JSON.stringify(creator)} ${calls} ${text}`;
    return heldBytes(name) + heldBytes(one.account) +
      sum(one.blocks.map(({ value }) => heldBytes(value)));
  }));
}

Deno.test("the bytes of the objects in memory are those of their content, each shared item once", async () => {
  const step = fc.oneof(...steps).map((run) => ({ run, ms: 0 }));
  const pass = fc.integer({ min: 1, max: RETENTION.ttlMs }).map((ms) => ({ run: null, ms }));
  const property = fc.asyncProperty(
    fc.array(fc.oneof({ weight: 12, arbitrary: step }, { weight: 1, arbitrary: pass }), {
      maxLength: 60,
      size: "max",
    }),
    async (steps) => {
      let time = 0;
      const objects = newMemoryObjectStore(() => time, RETENTION);
      for (const { run, ms } of steps) {
        time += ms;
        await run?.(objects);
        const { responses, conversations, reasoning } = objects.stats();
        assertEquals(responses.bytes, await recountResponses(objects));
        assertEquals(conversations.bytes, await recountConversations(objects));
        assert(responses.bytes <= RETENTION.maxBytes, "bytes of the responses");
        assert(conversations.bytes <= RETENTION.maxBytes, "bytes of the conversations");
        assert(reasoning.bytes <= reasoningBounds(RETENTION).bytes, "bytes of the reasoning");
      }
      assertEquals(objects.stats().reasoning.bytes, await recountReasoning(objects));
    },
  );
  await fc.assert(property, { numRuns: 200 });
});
