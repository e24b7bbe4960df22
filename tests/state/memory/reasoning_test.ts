import type { OwnedReasoning } from "../../../src/core/reasoning.ts";
import { type MemoryReasoning, newMemoryReasoning } from "../../../src/state/memory/reasoning.ts";
import type { ReasoningKey } from "../../../src/state/object_store.ts";
import {
  MAX_CREATOR_REASONING,
  MAX_CREATOR_REASONING_BYTES,
  MAX_REASONING,
  MAX_STATE_BYTES,
} from "../../../src/state/retention.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";

const MINUTE_MS = 60_000;
const MIB = 1024 * 1024;

interface Fixture {
  time: number;
  readonly memory: MemoryReasoning;
}

function fixture(): Fixture {
  const it: Fixture = { time: 0, memory: newMemoryReasoning(() => it.time) };
  return it;
}

function key(calls: string, text: string | null = "t", creator: string | null = "ada") {
  return { calls, text, creator };
}

function reasoning(thinking: string): OwnedReasoning {
  const value = { type: "thinking", thinking, signature: "s" };
  return { account: "a", blocks: [{ value, callsBefore: 0 }] };
}

async function found({ memory }: Fixture, ...keys: ReasoningKey[]): Promise<readonly unknown[]> {
  return await stored(memory.reasoning.find(keys));
}

async function put(it: Fixture, where: ReasoningKey, thinking = "hm"): Promise<boolean> {
  return await stored(it.memory.reasoning.store(where, reasoning(thinking)));
}

Deno.test("reasoning is found by its calls, with its text or without any, and by nothing else", async () => {
  const it = fixture();
  assertEquals(await put(it, key("c")), true);
  const keys = [key("c"), key("c", null), key("c", "other"), key("d"), key("d", null)];
  assertEquals(await found(it, ...keys), [reasoning("hm"), reasoning("hm"), null, null, null]);
});

Deno.test("the same calls of two callers have each caller's own reasoning", async () => {
  const it = fixture();
  const callers = ["ada", "bob", null];
  for (const creator of callers) await put(it, key("c", "t", creator), `of ${creator}`);
  for (const creator of callers) {
    const own = reasoning(`of ${creator}`);
    assertEquals(await found(it, key("c", "t", creator), key("c", null, creator)), [own, own]);
  }
  assertEquals(await found(it, key("c", "t", "null"), key("c", null, "eve")), [null, null]);
});

Deno.test("calls that a caller has received with different reasoning need the text", async () => {
  const it = fixture();
  await put(it, key("c", "one"), "1");
  await put(it, key("c", "two"), "2");
  const keys = [key("c", "one"), key("c", "two"), key("c", null)];
  assertEquals(await found(it, ...keys), [reasoning("1"), reasoning("2"), null]);
  it.time = 20 * MINUTE_MS;
  await found(it, key("c", "two"));
  it.time = 40 * MINUTE_MS;
  assertEquals(await found(it, ...keys), [null, reasoning("2"), null]);
});

Deno.test("reasoning that is stored again under its key replaces the earlier one", async () => {
  const it = fixture();
  await put(it, key("c"), "1");
  await put(it, key("c"), "2");
  assertEquals(await found(it, key("c"), key("c", null)), [reasoning("2"), reasoning("2")]);
  assertEquals(it.memory.stats().entries, 1);
});

Deno.test("reasoning lasts 30 minutes from its last use", async () => {
  const it = fixture();
  await put(it, key("c"));
  await put(it, key("d"));
  it.time = 30 * MINUTE_MS - 1;
  assertEquals(await found(it, key("c", null)), [reasoning("hm")]);
  it.time = 30 * MINUTE_MS;
  assertEquals(await found(it, key("d")), [null]);
  it.time = 60 * MINUTE_MS - 2;
  assertEquals(await found(it, key("c")), [reasoning("hm")]);
  it.time = 90 * MINUTE_MS - 2;
  assertEquals(await found(it, key("c"), key("c", null)), [null, null]);
  assertEquals(it.memory.stats(), { entries: 0, bytes: 0 });
});

Deno.test("calls whose reasoning has expired are free for new reasoning", async () => {
  const it = fixture();
  await put(it, key("c", "one"), "1");
  it.time = 30 * MINUTE_MS;
  await put(it, key("c", "two"), "2");
  assertEquals(await found(it, key("c", null)), [reasoning("2")]);
});

Deno.test("one caller has at most 4,000 entries, and only its own oldest make room", async () => {
  const it = fixture();
  await put(it, key("c", "t", "bob"));
  for (let at = 0; at <= MAX_CREATOR_REASONING; at++) await put(it, key(`c${at}`));
  assertEquals(it.memory.stats().entries, MAX_CREATOR_REASONING + 1);
  const keys = [key("c0"), key("c0", null), key("c1"), key("c", "t", "bob")];
  assertEquals(await found(it, ...keys), [null, null, reasoning("hm"), reasoning("hm")]);
});

Deno.test("all callers have at most 10,000 entries together; the oldest makes room", async () => {
  const it = fixture();
  for (let at = 0; at <= MAX_REASONING; at++) await put(it, key(`c${at}`, "t", `key ${at % 7}`));
  assertEquals(it.memory.stats().entries, MAX_REASONING);
  assertEquals(await found(it, key("c0", null, "key 0")), [null]);
  assertEquals(await found(it, key("c1", null, "key 1")), [reasoning("hm")]);
});

Deno.test("one caller's reasoning takes at most 32 MiB, that of all at most 64 MiB", async () => {
  const it = fixture();
  const thinking = "x".repeat(10 * MIB);
  for (let at = 0; at < 4; at++) await put(it, key(`c${at}`), thinking);
  assertEquals(it.memory.stats().entries, 3);
  for (const creator of ["bob", "eve", "kim"]) {
    for (let at = 0; at < 3; at++) await put(it, key(`c${at}`, "t", creator), thinking);
  }
  assertEquals(it.memory.stats().entries, 6);
  assert(it.memory.stats().bytes <= MAX_STATE_BYTES);
  assertEquals(await put(it, key("c"), "x".repeat(MAX_CREATOR_REASONING_BYTES)), false);
  assertEquals([await found(it, key("c")), it.memory.stats().entries], [[null], 6]);
});
