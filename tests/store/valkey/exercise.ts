import type { Owner } from "../../../src/store/bindings.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { SHARING } from "../conformance/harness.ts";

const OWNER: Owner = { provider: "p", account: "a", origin: null, creator: null };

/** Uses every operation of a store once, and leaves an object of each type. */
export async function exercise(store: StateStore): Promise<void> {
  const { responses, conversations, owners, reasoning } = store.objects;
  const item = { id: "i", type: "x" };
  const snapshot = { resource: { id: "r", output: [{ id: "o", type: "x" }] }, input: [item] };
  for (const id of ["r", "deleted"]) {
    await stored(responses.store(id, { owner: OWNER, snapshot, isNative: false }, SHARING));
  }
  assertEquals(await stored(responses.unbind("deleted", "a", SHARING)), true);
  assertEquals((await stored(responses.find("r")))?.snapshot, snapshot);
  assertEquals((await stored(responses.findItems(new Set(["i", "o"])))).length, 2);
  for (const id of ["c", "d"]) {
    const conversation = { id, creator: null, createdAt: 0, metadata: {}, items: [item] };
    await stored(conversations.create(conversation));
  }
  await stored(conversations.append("c", [{ id: "j", type: "x" }]));
  await stored(conversations.removeItem("c", "j"));
  await stored(conversations.setMetadata("c", { a: "b" }));
  assertEquals((await stored(conversations.find("c")))?.items, [item]);
  assertEquals((await stored(conversations.findItems(new Set(["i"])))).length, 2);
  assertEquals(await stored(conversations.delete("d")), true);
  await stored(owners.chat_completion.bind("x", OWNER));
  await stored(owners.chat_completion.bind("x", { ...OWNER, account: "b" }));
  await stored(owners.conversation.bind("y", OWNER));
  for (const text of ["t", "u"]) {
    await stored(
      reasoning.store({ creator: null, calls: "c", text }, { account: "a", blocks: [] }),
    );
  }
  await stored(reasoning.find([{ creator: null, calls: "c", text: "t" }]));
  const body = new Uint8Array([0xff, 0x00]);
  await store.cachedResponses.set("k", { status: 200, headers: {}, body }, 60_000);
  assertEquals((await store.cachedResponses.get("k"))?.body, body);
  await stored(store.ping());
  await stored(store.stats());
}
