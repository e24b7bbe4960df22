import fc from "fast-check";
import { isObject, type JsonObject, parseExact } from "../../../src/core/json/json.ts";
import type { Binding, Owner } from "../../../src/store/bindings.ts";
import type { NewResponse, ResponseStore } from "../../../src/store/object_store.ts";
import type { Snapshot } from "../../../src/store/snapshots.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import {
  type Objects,
  SHARING,
  type StoreUnderTest,
  testExpiry,
  testLifetime,
  testStore,
  withReplicas,
} from "./harness.ts";
import { exactObject } from "./json_texts.ts";
import { testResponseBytes } from "./response_bytes.ts";
import { testResponseModel } from "./responses_model.ts";

const TTL_MS = 30 * 60_000;
const KIB = 1024;
const BOUNDS = { ttlMs: TTL_MS, ownerTtlMs: TTL_MS, maxObjects: 20, maxBytes: 1024 * KIB };
const ORIGIN = { route: "", model: "m", requestedModel: null, protocol: "responses" } as const;

function ownerOf(account: string): Owner {
  return { provider: "p", account, origin: { ...ORIGIN, hasSnapshot: true }, creator: null };
}

/** A response with one item that has its ID. */
function responseOf(id: string, account = "one", text = ""): NewResponse {
  const snapshot = { resource: { id }, input: [{ id: `item ${id}`, type: "x", text }] };
  return { owner: ownerOf(account), snapshot, isNative: false };
}

async function put(responses: ResponseStore, id: string, text = ""): Promise<Binding | null> {
  return await stored(responses.store(id, responseOf(id, "one", text), SHARING));
}

async function snapshotOf(responses: ResponseStore, id: string): Promise<Snapshot | null> {
  return (await stored(responses.find(id)))?.snapshot ?? null;
}

/** Registers the tests of responses, except those of their owners. */
export function testResponses(under: StoreUnderTest<Objects>): void {
  testResponseModel(under);
  testResponseBytes(under);

  testExpiry(
    under,
    "a stored response ends after its lifetime, however often it is retrieved",
    BOUNDS,
    async ({ objects }) => void await put(objects.responses, "r"),
    async ({ objects }) => await stored(objects.responses.find("r")) !== null,
  );

  testExpiry(
    under,
    "the items of an expired response are not found",
    BOUNDS,
    async ({ objects }) => void await put(objects.responses, "r"),
    async ({ objects }) =>
      (await stored(objects.responses.findItems(new Set(["item r"])))).length > 0,
  );

  testLifetime(
    under,
    "a response lasts from its creation; other responses do not end with it",
    BOUNDS,
    async ({ pick, advance }) => {
      await put(pick(false).objects.responses, "old");
      await advance(TTL_MS - 1);
      await put(pick(true).objects.responses, "new");
      const { responses } = pick(false).objects;
      assert(await snapshotOf(responses, "old") !== null);
      await advance(1);
      assertEquals(await stored(responses.find("old")), null);
      assert(await snapshotOf(responses, "new") !== null);
    },
  );

  testStore(
    under,
    "a response is found with its owner by every replica, and after the store is opened again",
    BOUNDS,
    async ({ pick, reopen }) => {
      const { owner, snapshot } = responseOf("r", "one", "text");
      const binding: Binding = { kind: "bound", owner };
      assertEquals(await put(pick(false).objects.responses, "r", "text"), binding);
      assertEquals(await stored(pick(true).objects.responses.find("r")), { binding, snapshot });
      await reopen();
      assertEquals(await stored(pick(false).objects.responses.find("r")), { binding, snapshot });
      assertEquals(await stored(pick(false).objects.responses.find("R")), null);
    },
  );

  testStore(
    under,
    "a response that its owner deletes, or that becomes a conflict, is not found by its items either",
    BOUNDS,
    async ({ pick }) => {
      const [{ responses }, other] = [pick(false).objects, pick(true).objects.responses];
      for (const id of ["deleted", "conflict", "stored"]) await put(responses, id);
      await stored(other.unbind("deleted", "one", SHARING));
      await stored(other.bind("conflict", ownerOf("two")));
      const ids = new Set(["item deleted", "item conflict", "item stored"]);
      const found = await stored(responses.findItems(ids));
      assertEquals(found.map(({ id }) => id), ["item stored"]);
    },
  );

  testStore(
    under,
    "items are found in responses by their IDs, oldest response first; the later of two counts",
    BOUNDS,
    async ({ pick }) => {
      const { responses } = pick(false).objects;
      for (const [id, text] of [["z", "1"], ["b", "2"], ["a", "3"]] as const) {
        const note = (text: string) => ({ id: "same", type: "note", text });
        const snapshot = { resource: { id, output: [note(text)] }, input: [note("earlier")] };
        await stored(responses.store(id, { ...responseOf(id, id), snapshot }, SHARING));
      }
      const found = await stored(pick(true).objects.responses.findItems(new Set(["same", "?"])));
      assertEquals(
        found.map(({ item, binding }) => [
          item.text,
          binding.kind === "bound" && binding.owner.account,
        ]),
        [["1", "z"], ["2", "b"], ["3", "a"]],
      );
      assertEquals(await stored(responses.findItems(new Set())), []);
    },
  );

  testStore(
    under,
    "of items that very many responses have, a lookup of many IDs finds those of the youngest responses",
    BOUNDS,
    async ({ pick }) => {
      const { responses } = pick(false).objects;
      const items = Array.from({ length: 10_000 }, (_id, at) => ({ id: `i${at}` }));
      for (const id of ["a", "b", "c"]) {
        const snapshot = { resource: { id, output: [] }, input: items.slice(0, 2) };
        await stored(responses.store(id, { ...responseOf(id, id), snapshot }, SHARING));
      }
      const ids = new Set(items.map(({ id }) => id));
      const found = await stored(responses.findItems(ids));
      const uses = found.map(({ id, binding }) =>
        `${id} of ${binding.kind === "bound" ? binding.owner.account : "?"}`
      );
      assertEquals(uses.slice(0, 2).toSorted(), ["i0 of b", "i1 of b"]);
      assertEquals(uses.slice(2).toSorted(), ["i0 of c", "i1 of c"]);
    },
  );

  testStore(
    under,
    "at most max_entries responses are stored, and the oldest makes room",
    BOUNDS,
    async ({ pick }) => {
      const { responses, stats } = { ...pick(false).objects };
      for (let at = 0; at <= BOUNDS.maxObjects; at++) await put(responses, `r${at}`);
      const other = pick(true).objects.responses;
      assertEquals(await stored(other.find("r0")), null);
      assert(await snapshotOf(other, "r1") !== null);
      const ids = new Set(
        Array.from({ length: BOUNDS.maxObjects + 1 }, (_id, at) => `item r${at}`),
      );
      assertEquals((await stored(other.findItems(ids))).length, BOUNDS.maxObjects);
      assert(stats().responses.entries <= BOUNDS.maxObjects);
    },
  );

  testStore(
    under,
    "only the oldest response makes room, also if it was stored twice",
    { ...BOUNDS, maxObjects: 3 },
    async ({ pick }) => {
      const { responses } = pick(false).objects;
      for (const id of ["a", "b", "c", "a", "d"]) await put(responses, id);
      const found = ["a", "b", "c", "d"].map((id) => stored(responses.find(id)));
      const snapshots = (await Promise.all(found)).map((one) => one?.snapshot?.resource.id);
      assertEquals<unknown>(snapshots, [undefined, "b", "c", "d"]);
    },
  );

  testStore(
    under,
    "one response ID that two accounts return at the same time is a conflict without content",
    BOUNDS,
    async ({ pick }) => {
      const stores = Array.from({ length: 10 }, (_store, at) =>
        stored(
          pick(at % 2 === 1).objects.responses.store("r", responseOf("r", `of ${at}`), SHARING),
        ));
      const kinds = (await Promise.all(stores)).map((binding) => binding?.kind);
      assertEquals(kinds.filter((kind) => kind === "bound").length, 1);
      const found = await stored(pick(true).objects.responses.find("r"));
      assertEquals(found, { binding: { kind: "conflict", creator: null }, snapshot: null });
    },
  );

  testStore(
    under,
    "of concurrent deletes of a response one returns true, and its content is gone",
    BOUNDS,
    async ({ pick }) => {
      await put(pick(false).objects.responses, "r");
      const deletes = Array.from(
        { length: 10 },
        (_delete, at) => stored(pick(at % 2 === 1).objects.responses.unbind("r", "one", SHARING)),
      );
      assertEquals((await Promise.all(deletes)).filter((isRemoved) => isRemoved).length, 1);
      assertEquals(await stored(pick(false).objects.responses.find("r")), null);
    },
  );

  Deno.test(`${under.name}: responses are returned exactly as they were stored`, async () => {
    await withReplicas(under, { ...BOUNDS, maxObjects: 1000 }, async ({ pick }) => {
      const property = fc.asyncProperty(
        fc.uuid(),
        exactObject,
        fc.array(exactObject, { maxLength: 4 }),
        async (id, resource, input) => {
          const snapshot = {
            resource: exact({ id }, resource),
            input: input.map((text, at) => exact({ id: `i${at}` }, text)),
          };
          const response = { ...responseOf(id), snapshot };
          await stored(pick(false).objects.responses.store(id, response, SHARING));
          const found = await snapshotOf(pick(true).objects.responses, id);
          assertEquals(JSON.stringify(found), JSON.stringify(snapshot));
        },
      );
      await fc.assert(property, { numRuns: under.numRuns });
    });
  });
}

function exact(members: JsonObject, text: string): JsonObject {
  const value = parseExact(text);
  assert(isObject(value));
  return { ...value, ...members, value };
}
