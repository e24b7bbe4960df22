import {
  newProviderSlots,
  type ProviderSlots,
  type Slot,
  type SlotEntry,
  type SlotLimits,
} from "../../src/traffic/provider_slots.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { type ScriptedWorld, scriptedWorld } from "../support/world.ts";

const UP = { id: "up", upstream: "a1" };
const LIMITS: SlotLimits = { maxConcurrent: 1, maxQueued: 2, queueTimeoutMs: 1_000 };

function limited(limits: SlotLimits | null = LIMITS) {
  const world: ScriptedWorld = scriptedWorld();
  const slots = newProviderSlots((ms, run) => world.after(ms, run));
  slots.configure([[UP, limits]]);
  return { world, slots };
}

function granted(entry: SlotEntry): Slot {
  assert(entry.kind === "granted", entry.kind);
  return entry.slot;
}

function queued(entry: SlotEntry): SlotEntry & { readonly kind: "queued" } {
  assert(entry.kind === "queued", entry.kind);
  return entry;
}

function countsOf(slots: ProviderSlots, owner = UP): readonly number[] {
  const { running, queued } = slots.counts(owner);
  return [running, queued];
}

Deno.test("without a limit every call is granted a slot, and nothing is counted", () => {
  const { slots } = limited(null);
  assertEquals(slots.isInUse, false);
  for (let call = 0; call < 1_000; call++) granted(slots.enter(UP));
  assertEquals(countsOf(slots), [0, 0]);
});

Deno.test("at the limit calls are queued, and refused when the queue is full", () => {
  const { slots } = limited();
  assert(slots.isInUse && slots.isFree(UP));
  granted(slots.enter(UP));
  assert(!slots.isFree(UP) && slots.hasRoom(UP));
  queued(slots.enter(UP));
  queued(slots.enter(UP));
  assert(!slots.hasRoom(UP));
  assertEquals(slots.enter(UP).kind, "full");
  assertEquals(countsOf(slots), [1, 2]);
});

Deno.test("a released slot goes to the oldest call in the queue", async () => {
  const { slots, world } = limited();
  const first = granted(slots.enter(UP));
  const [second, third] = [queued(slots.enter(UP)), queued(slots.enter(UP))];
  first.release();
  assertEquals(slots.isFree(UP), false, "nobody overtakes");
  assertEquals(countsOf(slots), [1, 1]);
  const slot = await second.slot;
  assert(slot !== null);
  slot.release();
  (await third.slot)?.release();
  assertEquals([...countsOf(slots), world.waiting], [0, 0, 0]);
});

Deno.test("a slot that is released twice counts once", () => {
  const { slots } = limited({ ...LIMITS, maxConcurrent: 2 });
  const first = granted(slots.enter(UP));
  granted(slots.enter(UP));
  first.release();
  first.release();
  assertEquals(countsOf(slots), [1, 0]);
});

Deno.test("a call that leaves the queue frees its place at once", async () => {
  const { slots, world } = limited();
  const first = granted(slots.enter(UP));
  const [second, third] = [queued(slots.enter(UP)), queued(slots.enter(UP))];
  second.leave();
  second.leave();
  assertEquals([await second.slot, ...countsOf(slots)], [null, 1, 1]);
  first.release();
  assert(await third.slot !== null);
  assertEquals(world.waiting, 0);
});

Deno.test("leaving after the slot was granted changes nothing", async () => {
  const { slots } = limited();
  const first = granted(slots.enter(UP));
  const second = queued(slots.enter(UP));
  first.release();
  second.leave();
  const slot = await second.slot;
  assertEquals(countsOf(slots), [1, 0]);
  slot?.release();
  assertEquals(countsOf(slots), [0, 0]);
});

Deno.test("a call waits at most queue_timeout", async () => {
  const { slots, world } = limited();
  granted(slots.enter(UP));
  const second = queued(slots.enter(UP));
  await world.advance(999);
  assertEquals(countsOf(slots), [1, 1]);
  await world.advance(1);
  assertEquals([await second.slot, ...countsOf(slots)], [null, 1, 0]);
});

Deno.test("a lower limit lets running attempts end, and admits none until fewer are running", async () => {
  const { slots } = limited({ ...LIMITS, maxConcurrent: 3 });
  const running = [1, 2, 3].map(() => granted(slots.enter(UP)));
  slots.configure([[UP, LIMITS]]);
  const waiting = queued(slots.enter(UP));
  running[0]?.release();
  running[1]?.release();
  assertEquals(countsOf(slots), [1, 1]);
  running[2]?.release();
  assertEquals(countsOf(slots), [1, 0]);
  assert(await waiting.slot !== null);
});

Deno.test("a higher limit admits calls from the queue at once, in their order", async () => {
  const { slots } = limited();
  granted(slots.enter(UP));
  const [second, third] = [queued(slots.enter(UP)), queued(slots.enter(UP))];
  slots.configure([[UP, { ...LIMITS, maxConcurrent: 2 }]]);
  assert(await second.slot !== null);
  assertEquals(countsOf(slots), [2, 1]);
  slots.configure([[UP, { ...LIMITS, maxConcurrent: 9 }]]);
  assert(await third.slot !== null);
});

Deno.test("a shorter queue keeps the calls in it, and holds for those that come", () => {
  const { slots } = limited();
  granted(slots.enter(UP));
  queued(slots.enter(UP));
  slots.configure([[UP, { ...LIMITS, maxQueued: 0 }]]);
  assertEquals([slots.enter(UP).kind, ...countsOf(slots)], ["full", 1, 1]);
});

Deno.test("a removed limit admits every call, and running attempts count when it is set again", async () => {
  const { slots } = limited();
  const first = granted(slots.enter(UP));
  const second = queued(slots.enter(UP));
  slots.configure([[UP, null]]);
  const slot = await second.slot;
  granted(slots.enter(UP)).release();
  assertEquals(countsOf(slots), [2, 0]);
  slots.configure([[UP, LIMITS]]);
  first.release();
  assertEquals(slots.enter(UP).kind, "queued");
  slot?.release();
  assertEquals(countsOf(slots), [1, 0]);
});

Deno.test("two providers of one account, and two accounts of one provider, have slots of their own", () => {
  const { slots } = limited();
  const other = { id: "other", upstream: UP.upstream };
  const changed = { id: UP.id, upstream: "a2" };
  slots.configure([[UP, LIMITS], [other, { ...LIMITS, maxConcurrent: 2 }], [changed, LIMITS]]);
  granted(slots.enter(UP));
  for (const owner of [other, other, changed]) granted(slots.enter(owner));
  for (const owner of [UP, other, changed]) queued(slots.enter(owner));
});

Deno.test("a removed provider keeps its limit for older calls, and its slots are deleted when it is idle", async () => {
  const { slots } = limited();
  const first = granted(slots.enter(UP));
  slots.configure([]);
  const second = queued(slots.enter(UP));
  first.release();
  (await second.slot)?.release();
  assertEquals(countsOf(slots), [0, 0]);
  granted(slots.enter(UP)).release();
  slots.configure([]);
  assertEquals(slots.isInUse, false);
});

Deno.test("the slots of a removed provider are not deleted while a call runs or waits there", () => {
  const { slots } = limited();
  const first = granted(slots.enter(UP));
  for (let reload = 0; reload < 3; reload++) slots.configure([]);
  assertEquals(countsOf(slots), [1, 0]);
  slots.configure([[UP, LIMITS]]);
  assertEquals(slots.enter(UP).kind, "queued");
  first.release();
});

Deno.test("a hundred thousand calls leave a long queue in linear time, from its front, its middle and its end", () => {
  const calls = 100_000;
  const { slots, world } = limited({ maxConcurrent: 1, maxQueued: calls, queueTimeoutMs: 1_000 });
  const first = granted(slots.enter(UP));
  const waiting = Array.from({ length: calls }, () => queued(slots.enter(UP)));
  for (let at = 0; at < calls; at += 2) waiting[at]?.leave();
  for (let at = calls - 1; at >= 0; at -= 4) waiting[at]?.leave();
  first.release();
  assertEquals(countsOf(slots), [1, calls / 4 - 1]);
  slots.configure([[UP, null]]);
  assertEquals([...countsOf(slots), world.waiting], [calls / 4, 0, 0]);
});
