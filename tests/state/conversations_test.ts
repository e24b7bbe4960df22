import type { JsonObject } from "../../src/core/json.ts";
import { type Conversations, newConversations } from "../../src/state/conversations.ts";
import { newSnapshots } from "../../src/state/snapshots.ts";
import { assert, assertEquals } from "../support/assert.ts";

const MINUTE = 60_000;
const MIB = 1024 * 1024;

function put(store: Conversations, id: string, items: readonly JsonObject[] = []): boolean {
  return store.put({ id, creator: null, createdAt: 0, metadata: {}, items }).ok;
}

function numbered(count: number, from = 0): readonly JsonObject[] {
  return Array.from({ length: count }, (_item, index) => ({ id: `i${from + index}`, type: "x" }));
}

Deno.test("a conversation lives for 30 minutes from its last change, not from its last look", () => {
  let time = 0;
  const store = newConversations(() => time);
  put(store, "changed");
  put(store, "looked at");
  time = 20 * MINUTE;
  assert(store.append("changed", numbered(1)).ok);
  assert(store.get("looked at") !== undefined);
  time = 30 * MINUTE;
  assertEquals(store.get("looked at"), undefined);
  time = 50 * MINUTE - 1;
  assert(store.get("changed") !== undefined);
  time = 50 * MINUTE;
  assertEquals(store.get("changed"), undefined);
});

Deno.test("a conversation holds 1000 items; a batch that does not fit changes nothing", () => {
  const store = newConversations(() => 0);
  put(store, "c", numbered(990));
  const tooMany = store.append("c", numbered(11, 990));
  assertEquals(tooMany.ok ? null : tooMany.failure.kind, "conversation_item_limit_exceeded");
  assertEquals(store.get("c")?.items.length, 990);
  assert(store.append("c", numbered(10, 990)).ok);
  assertEquals(store.get("c")?.items.length, 1000);
});

Deno.test("there are at most 1000 conversations; the one unchanged the longest makes room", () => {
  const store = newConversations(() => 0);
  for (let index = 0; index < 1000; index++) put(store, `c${index}`);
  store.append("c0", numbered(1));
  put(store, "one more");
  assertEquals(store.entries, 1000);
  assert(store.get("c0") !== undefined);
  assertEquals(store.get("c1"), undefined);
});

Deno.test("conversations share 64 MiB; a growing one pushes others out and stops at the limit", () => {
  const store = newConversations(() => 0);
  const big = (id: string, mib: number) => [{ id, type: "x", text: "x".repeat(mib * MIB) }];
  put(store, "old", big("a", 30));
  put(store, "new", big("b", 30));
  assert(store.append("new", big("c", 20)).ok);
  assertEquals(store.get("old"), undefined);
  const tooLarge = store.append("new", big("d", 20));
  assertEquals(tooLarge.ok ? null : tooLarge.failure.kind, "state_too_large");
  assertEquals(store.get("new")?.items.length, 2);
  assert(store.bytes <= 64 * MIB);
});

Deno.test("a response larger than 64 MiB is not kept and pushes nothing out", () => {
  const snapshots = newSnapshots(() => 0);
  assert(snapshots.keep("small", { resource: { id: "small" }, input: [] }));
  const text = "x".repeat(64 * MIB);
  assertEquals(snapshots.keep("big", { resource: { id: "big", text }, input: [] }), false);
  assert(snapshots.get("small") !== undefined);
  assertEquals(snapshots.entries, 1);
});

Deno.test("a conversation has room for what fits into 64 MiB with it, and so has an unknown one", () => {
  const store = newConversations(() => 0);
  put(store, "c", [{ id: "a", type: "x", text: "x".repeat(63 * MIB) }]);
  const item = (bytes: number) => [{ id: "b", type: "x", text: "x".repeat(bytes) }];
  assertEquals([store.hasRoom("c", item(MIB / 2)), store.hasRoom("c", item(MIB))], [true, false]);
  assert(store.append("c", item(MIB / 2)).ok);
  assert(!store.append("c", [{ id: "c", type: "x", text: "x".repeat(MIB) }]).ok);
  assertEquals(store.hasRoom("unknown", item(MIB)), true);
});
