import fc from "fast-check";
import type { JsonObject } from "../../../src/core/json/json.ts";
import type { Owner } from "../../../src/store/bindings.ts";
import type { ResponseStore } from "../../../src/store/object_store.ts";
import { outputOf, type Snapshot } from "../../../src/store/snapshots.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { type Objects, SHARING, type StoreUnderTest, testStore, withReplicas } from "./harness.ts";

const KIB = 1024;
const BOUNDS = {
  ttlMs: 30 * 60_000,
  ownerTtlMs: 30 * 60_000,
  maxObjects: 1_000,
  maxBytes: 64 * KIB,
};

/** Most that a store may count for a small response besides its text, in bytes. */
const MAX_OVERHEAD_BYTES = 2 * KIB;

const TURN_COUNT = 100;
const ITEM_BYTES = 1_000;
const ORIGIN = { route: "", model: "m", requestedModel: null, protocol: "responses" } as const;
const OWNER: Owner = {
  provider: "p",
  account: "a",
  origin: { ...ORIGIN, hasSnapshot: true },
  creator: null,
};

async function put(responses: ResponseStore, id: string, text: string, isNative = false) {
  const snapshot = { resource: { id }, input: [{ id: `item ${id}`, text }] };
  return await stored(responses.store(id, { owner: OWNER, snapshot, isNative }, SHARING));
}

async function snapshotOf(responses: ResponseStore, id: string): Promise<Snapshot | null> {
  return (await stored(responses.find(id)))?.snapshot ?? null;
}

/** Returns a text that differs from that of every other number. */
function textOf(at: number, bytes: number): string {
  return `${at} `.padEnd(bytes, "x");
}

/** Stores the turns of a dialogue as the gateway does: each response with all items before it. */
async function storeDialogue(responses: ResponseStore, name: string): Promise<void> {
  const item = (id: string): JsonObject => ({
    id,
    type: "message",
    text: id.padEnd(ITEM_BYTES, "x"),
  });
  for (let turn = 0; turn < TURN_COUNT; turn++) {
    const earlier = await snapshotOf(responses, `${name} ${turn - 1}`);
    const history = earlier === null ? [] : [...earlier.input, ...outputOf(earlier)];
    const [first, second, third, fourth] = [0, 1, 2, 3].map((at) => item(`${name} ${turn}.${at}`));
    assert(first && second && third && fourth);
    const id = `${name} ${turn}`;
    const snapshot = {
      resource: { id, output: [third, fourth] },
      input: [...history, first, second],
    };
    const response = { owner: OWNER, snapshot, isNative: false };
    assert(await stored(responses.store(id, response, SHARING)) !== null);
  }
}

/** Registers the tests of the bytes of stored responses. */
export function testResponseBytes(under: StoreUnderTest<Objects>): void {
  testStore(
    under,
    "a response larger than max_bytes is not stored and pushes nothing out; a native one is bound",
    BOUNDS,
    async ({ pick }) => {
      const [{ responses }, other] = [pick(false).objects, pick(true).objects.responses];
      assertEquals(await put(responses, "small", ""), { kind: "bound", owner: OWNER });
      const text = "x".repeat(BOUNDS.maxBytes);
      assertEquals(await put(responses, "big", text), null);
      assertEquals(await stored(other.find("big")), null);
      // A native response has an owner in any case, whose provenance has no snapshot.
      const owner = { ...OWNER, origin: { ...ORIGIN, hasSnapshot: false } };
      const bound = { kind: "bound", owner } as const;
      assertEquals(await put(responses, "big", text, true), bound);
      assertEquals(await stored(other.find("big")), { binding: bound, snapshot: null });
      assert(await snapshotOf(other, "small") !== null);
    },
  );

  Deno.test(`${under.name}: responses take at most max_bytes, and the oldest make room`, async () => {
    const sizes = fc.array(fc.constantFrom(10, 1 * KIB, 10 * KIB, 30 * KIB, 60 * KIB), {
      minLength: 1,
      maxLength: 25,
    });
    const property = fc.asyncProperty(sizes, async (sizes) => {
      await withReplicas(under, BOUNDS, async ({ pick }) => {
        for (const [at, size] of sizes.entries()) {
          await put(pick(at % 2 === 1).objects.responses, `r${at}`, textOf(at, size));
        }
        const { responses, stats } = { ...pick(false).objects };
        assert(stats().responses.bytes <= BOUNDS.maxBytes);
        await checkYoungest(responses, sizes);
      });
    });
    await fc.assert(property, { numRuns: under.numRuns });
  });

  testStore(
    under,
    "dialogues of 100 turns share their items, so that three take less than one with copies",
    { ...BOUNDS, maxBytes: 20_000_000 },
    async ({ pick }) => {
      const { responses, stats } = { ...pick(false).objects };
      for (const name of ["one", "two", "three"]) await storeDialogue(responses, name);
      for (const name of ["one", "two", "three"]) {
        for (const turn of [0, 1, 50, TURN_COUNT - 1]) {
          const found = await snapshotOf(responses, `${name} ${turn}`);
          assertEquals(found?.input.length, 4 * turn + 2);
          const texts = found?.input.map(({ text }) => String(text).split("x")[0]);
          assertEquals(texts?.at(-1), `${name} ${turn}.1`);
          assertEquals(new Set(texts).size, texts?.length);
        }
      }
      assert(stats().responses.bytes < 20_000_000);
    },
  );

  testStore(
    under,
    "an item lasts as long as one response has it, and its bytes are free afterwards",
    BOUNDS,
    async ({ pick }) => {
      const [{ responses }, other] = [pick(false).objects, pick(true).objects.responses];
      const shared = { id: "shared", type: "x", text: "s".repeat(20 * KIB) };
      const store = async (id: string) => {
        const snapshot = { resource: { id }, input: [shared] };
        await stored(responses.store(id, { owner: OWNER, snapshot, isNative: false }, SHARING));
      };
      for (const id of ["a", "b", "c", "d"]) await store(id);
      for (const id of ["a", "b", "c"]) {
        assertEquals(await stored(other.unbind(id, "a", SHARING)), true);
      }
      assertEquals((await snapshotOf(other, "d"))?.input, [shared]);
      const found = await stored(responses.findItems(new Set(["shared"])));
      assertEquals(found.map(({ item }) => item), [shared]);
      assertEquals(await stored(other.unbind("d", "a", SHARING)), true);
      assertEquals(await stored(responses.findItems(new Set(["shared"]))), []);
      // Each of these fits only if the bytes of the earlier ones are free.
      for (const id of ["e", "f"]) {
        await put(responses, id, textOf(0, 60 * KIB));
        assert(await snapshotOf(other, id) !== null);
        assertEquals(await stored(other.unbind(id, "a", SHARING)), true);
      }
    },
  );
}

/** Checks that the youngest responses are stored as far as they fit, and no older ones. */
async function checkYoungest(responses: ResponseStore, sizes: readonly number[]): Promise<void> {
  let least = 0;
  let most = 0;
  let isCut = false;
  for (const [at, size] of [...sizes.entries()].toReversed()) {
    least += size;
    most += size + MAX_OVERHEAD_BYTES;
    const found = await snapshotOf(responses, `r${at}`);
    assert(!(isCut && found !== null), `r${at} is stored although a younger one is not`);
    isCut ||= found === null;
    if (most <= BOUNDS.maxBytes) assert(found !== null, `r${at} fits`);
    if (least > BOUNDS.maxBytes) assert(found === null, `r${at} does not fit`);
    if (found !== null) assertEquals(found.input[0]?.text, textOf(at, size));
  }
}
