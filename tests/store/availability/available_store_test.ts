import { success } from "../../../src/core/failure/result.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { storeUnavailable } from "../../../src/store/store_failure.ts";
import { bindingOf, outcomeOf, stored } from "../../support/object_store.ts";
import { newOutageStore } from "../../support/outage.ts";
import { scriptedWorld } from "../../support/world.ts";

Deno.test("an idle gateway pings its store every second, one ping at a time", async () => {
  const world = scriptedWorld();
  const { raw, store } = newOutageStore(world);
  await store.start();
  assertEquals(raw.pings, 1);
  await world.advance(10_000);
  assertEquals(raw.pings, 11);
  const held = raw.hold();
  await world.advance(10_000);
  assertEquals([raw.pings, world.waiting], [12, 0]);
  held.release();
  await world.advance(1_000);
  assertEquals(raw.pings, 13);
  await store.close();
  assertEquals([raw.isClosed, world.waiting], [true, 0]);
});

Deno.test("a store that answers no ping is unavailable from the first failed operation until it answers", async () => {
  const world = scriptedWorld();
  const { raw, store, log } = newOutageStore(world);
  await store.start();
  assert(store.availability.isUp());
  raw.leave();
  assert(store.availability.isUp());
  assertEquals(await outcomeOf(store.objects.responses.find("r")), "state_unavailable");
  await world.advance(0);
  assertEquals([store.availability.isUp(), raw.pings], [false, 2]);
  raw.comeBack();
  await world.advance(999);
  assert(!store.availability.isUp());
  await world.advance(1);
  assert(store.availability.isUp());
  assertEquals(log.length, 2);
  await store.close();
});

Deno.test("a store that answers pings is available, whatever operations it fails at", async () => {
  const world = scriptedWorld();
  const { raw, store, log, failures } = newOutageStore(world);
  const { find, store: write } = raw.objects.responses;
  Object.assign(raw.objects.responses, { store: () => Promise.resolve(storeUnavailable()) });
  await store.start();
  const owner = { provider: "p", account: "a", origin: null, creator: null };
  const caller = { name: null, isIsolated: false };
  const add = (id: string) => {
    const snapshot = { resource: { id, output: [] }, input: [] };
    return store.outcomes.storeResponse(id, { owner, snapshot, isNative: false }, caller);
  };
  assertEquals(await add("large"), success("pending"));
  await world.advance(3_500);
  assertEquals([store.availability.isUp(), store.availability.pendingWrites()], [true, 1]);
  assertEquals(failures, Array(failures.length).fill("response_store"));
  assertEquals(log.filter((line) => line.includes("unavailable:")), []);
  // Other objects are stored and found meanwhile, and this one by this process.
  assertEquals(await store.outcomes.bind("response", "other", owner), success("stored"));
  assert(await bindingOf({ state: store }, "response", "large") !== null);
  assertEquals((await stored(find("other")))?.binding, { kind: "bound", owner });
  Object.assign(raw.objects.responses, { store: write });
  await world.advance(1_000);
  assert(await stored(find("large")) !== null);
  await store.close();
});

Deno.test("a store without room is unavailable from the first failed operation until a ping can write", async () => {
  const world = scriptedWorld();
  const { raw, store } = newOutageStore(world);
  let hasRoom = true;
  const written: boolean[] = [];
  const full = <T>(result: T) => Promise.resolve(hasRoom ? result : storeUnavailable());
  Object.assign(raw.objects.responses, { bind: () => full(success(undefined)) });
  Object.assign(raw, {
    ping(doesWrite: boolean) {
      written.push(doesWrite);
      return doesWrite ? full(success(undefined)) : Promise.resolve(success(undefined));
    },
  });
  await store.start();
  await world.advance(2_000);
  assertEquals([store.availability.isUp(), written.slice(1)], [true, [false, false]]);
  hasRoom = false;
  const owner = { provider: "p", account: "a", origin: null, creator: null };
  assertEquals(await store.outcomes.bind("response", "r", owner), success("pending"));
  await world.advance(2_000);
  assertEquals([store.availability.isUp(), written.slice(3)], [false, [true, true, true]]);
  hasRoom = true;
  await world.advance(1_000);
  assertEquals([store.availability.isUp(), store.availability.pendingWrites()], [true, 0]);
  await world.advance(1_000);
  assertEquals(written.at(-1), false);
  await store.close();
});

Deno.test("many operations that fail at once make one ping", async () => {
  const world = scriptedWorld();
  const { raw, store } = newOutageStore(world);
  await store.start();
  raw.leave();
  await Promise.all(Array.from({ length: 20 }, () => store.objects.responses.find("r")));
  await world.advance(0);
  assertEquals([raw.pings, store.availability.isUp()], [2, false]);
  await store.close();
});

Deno.test("an idle gateway learns from a ping that its store is unavailable", async () => {
  const world = scriptedWorld();
  const { raw, store } = newOutageStore(world);
  assert(await store.start());
  raw.leave();
  await world.advance(1_000);
  assert(!store.availability.isUp());
  await store.close();
});

Deno.test("an outage is logged once when it begins, every minute, and once when it ends", async () => {
  const world = scriptedWorld();
  const { raw, store, log } = newOutageStore(world);
  await store.start();
  raw.leave();
  await world.advance(1_000);
  const begun =
    "error the state store is unavailable: requests that need it get 503 state_unavailable until it answers";
  for (let failures = 0; failures < 5; failures++) await store.objects.responses.find("r");
  assertEquals(log, [begun]);
  await world.advance(120_000);
  assertEquals(log, [
    begun,
    "warn the state store has been unavailable for 60 s; writes that wait for it: 0",
    "warn the state store has been unavailable for 120 s; writes that wait for it: 0",
  ]);
  raw.comeBack();
  await world.advance(1_000);
  assertEquals(log.slice(3), ["info the state store is available again after 121 s"]);
  await store.close();
});

Deno.test("a start without the store continues to try", async () => {
  const world = scriptedWorld();
  const { raw, store, log } = newOutageStore(world);
  raw.leave();
  assertEquals(await store.start(), false);
  await world.advance(61_000);
  assertEquals(log.length, 2);
  raw.comeBack();
  await world.advance(1_000);
  assert(store.availability.isUp());
  await store.close();
});

Deno.test("each failed operation is counted by its name; what the store refuses is no failure", async () => {
  const world = scriptedWorld();
  const { raw, store, failures } = newOutageStore(world);
  await store.start();
  const { responses, conversations, owners, reasoning } = store.objects;
  assertEquals(await outcomeOf(conversations.setMetadata("c", {})), "conversation_not_found");
  raw.leave();
  const owner = { provider: "p", account: "a", origin: null, creator: null };
  const caller = { name: null, isIsolated: false };
  const conversation = { id: "c", creator: null, createdAt: 1, metadata: {}, items: [] };
  await responses.find("r");
  await responses.findBinding("r");
  await responses.findBindings(["r"]);
  await responses.findItems(new Set(["i"]));
  await responses.bind("r", owner);
  await responses.unbind("r", "a", caller);
  await conversations.create(conversation);
  await conversations.find("c");
  await conversations.setMetadata("c", {});
  await conversations.append("c", []);
  await conversations.removeItem("c", "i");
  await conversations.delete("c");
  await conversations.findItems(new Set(["i"]));
  await owners.conversation.findBinding("c");
  await owners.chat_completion.findBindings(["c"]);
  await owners.chat_completion.bind("c", owner);
  await owners.chat_completion.unbind("c", "a", caller);
  // Calls count these themselves.
  await reasoning.find([]);
  assertEquals(failures, [
    "response_find",
    "response_find",
    "response_find",
    "response_items",
    "response_bind",
    "response_unbind",
    "conversation_create",
    "conversation_find",
    "conversation_update",
    "conversation_append",
    "conversation_remove_item",
    "conversation_delete",
    "conversation_items",
    "owner_find",
    "owner_find",
    "owner_bind",
    "owner_unbind",
  ]);
  await store.close();
});

Deno.test("a store that throws is a bug: the operation fails, and the pings go on", async () => {
  const world = scriptedWorld();
  const { raw, store, log, failures } = newOutageStore(world);
  const thrown = () => Promise.reject(new TypeError("secret"));
  Object.assign(raw.objects.responses, { find: thrown });
  await store.start();
  assertEquals(await outcomeOf(store.objects.responses.find("r")), "internal_error");
  assertEquals([failures, store.availability.isUp()], [[], true]);
  Object.assign(raw, { ping: thrown });
  await world.advance(1_000);
  assert(!store.availability.isUp());
  await world.advance(1_000);
  const bugs = log.filter((line) => line.includes("this is a bug: TypeError"));
  assertEquals(bugs.map((line) => line.split(" ").slice(0, 2)), [
    ["error", "response_find"],
    ["error", "ping"],
    ["error", "ping"],
  ]);
  assert(!log.join().includes("secret"));
  await store.close();
});

Deno.test("cached responses and quotas are those of the store itself", async () => {
  const world = scriptedWorld();
  const { raw, store } = newOutageStore(world);
  assertEquals(store.cachedResponses, raw.cachedResponses);
  assertEquals(store.quotas, raw.quotas);
  assertEquals([store.name, store.objects.stats()], [raw.name, raw.objects.stats()]);
  assertEquals(await raw.ping(), success(undefined));
  await store.close();
});

Deno.test("the duration of the last answered ping and of an outage are known", async () => {
  const world = scriptedWorld();
  const { raw, store: { availability, start, close } } = newOutageStore(world);
  assertEquals([availability.pingMs(), availability.awayForMs()], [null, null]);
  const held = raw.hold();
  const starting = start();
  await world.advance(7);
  held.release();
  await starting;
  assertEquals([availability.pingMs(), availability.awayForMs()], [7, null]);
  raw.leave();
  await world.advance(3_500);
  assertEquals([availability.isUp(), availability.awayForMs()], [false, 2_500]);
  assertEquals(availability.pingMs(), 7);
  raw.comeBack();
  await world.advance(1_000);
  assertEquals([availability.pingMs(), availability.awayForMs()], [0, null]);
  await close();
});
