import type { JsonObject } from "../../../src/core/json/json.ts";
import { newHeldContent, newTextContent } from "../../../src/store/objects/content_codec.ts";
import { newItems } from "../../../src/store/objects/items.ts";
import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import { NO_TURNS } from "../../../src/traffic/loop_turns.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { heldTurns } from "../../support/held_turns.ts";
import { scriptedWorld } from "../../support/world.ts";

const KIB = 1024;

const MAX_RECORDS = 10_000;

const text = () => newTextContent(newPlainCodec(), scriptedWorld());

function itemsOf(count: number, content: string): readonly JsonObject[] {
  return Array.from({ length: count }, (_, at) => ({ id: `i${at}`, content }));
}

Deno.test("parts of several items have at most 64 KiB of text, whatever the text escapes", async () => {
  const items = newItems(text(), "item", NO_TURNS, MAX_RECORDS);
  for (const content of ["plain ".repeat(100), "\x01".repeat(500), "ü".repeat(300), ""]) {
    const all = itemsOf(1_000, content);
    const packs = await items.pack(all);
    assertEquals(packs.flatMap((pack) => pack.items), all);
    const parts = await items.encode(packs, new Set());
    for (const { body, bytes } of parts) {
      assert(body !== null && body.length <= bytes && bytes <= 64 * KIB, `${bytes}`);
    }
    assert(parts.length < 100, `${parts.length}`);
  }
  const large = await items.pack(itemsOf(3, "x".repeat(64 * KIB)));
  assertEquals(large.map((pack) => pack.items.length), [1, 1, 1]);
});

Deno.test("a part has the IDs of its items as names, each once", async () => {
  const items = newItems(newHeldContent(), "item", NO_TURNS, MAX_RECORDS);
  const packs = await items.pack([{ id: "a" }, { id: "b" }, { id: "a" }, { id: 1 }, {}]);
  assertEquals((await items.encode(packs, new Set())).map(({ names }) => names), [["a", "b"]]);
});

Deno.test("stored parts are sent without a body, unless the store has lost them", async () => {
  const items = newItems(text(), "item", NO_TURNS, MAX_RECORDS);
  const packs = await items.pack(itemsOf(600, "x".repeat(200)));
  const bodiesOf = async (missing: readonly string[]) =>
    (await items.encode(packs, new Set(missing))).map(({ body }) => body !== null);
  assertEquals(await bodiesOf([]), [true, true, true]);
  items.markStored("r", packs);
  assertEquals(await bodiesOf([]), [false, false, false]);
  assertEquals(await bodiesOf([packs[1]?.key ?? ""]), [false, true, false]);
});

Deno.test("the parts of no more records are remembered than the store has", async () => {
  const items = newItems(text(), "item", NO_TURNS, 1);
  for (const id of ["r", "s"]) items.markStored(id, await items.pack([{ id }]));
  assertEquals([items.rememberedIn("r").size, items.rememberedIn("s").size], [0, 1]);
});

Deno.test("a remembered part counts with all that the process holds of it", async () => {
  const items = newItems(text(), "item", NO_TURNS, MAX_RECORDS);
  const packOf = (at: number) => items.pack([{ id: `i${at}`, content: "x".repeat(1_000) }]);
  // As many as would have room if a part had only what the store has of it.
  const count = Math.floor(8 * KIB * KIB / ((await packOf(0))[0]?.bytes ?? 0));
  for (let at = 0; at < count; at++) items.markStored(`r${at}`, await packOf(at));
  const kept = Array.from({ length: count }, (_, at) => items.rememberedIn(`r${at}`).size);
  assertEquals([kept[0], kept.at(-1)], [0, 1]);
  const share = kept.filter((size) => size === 1).length / count;
  assert(share > 0.85 && share < 0.95, `${share}`);
});

Deno.test("many items are divided and encoded part by part, each in a turn", async () => {
  for (const content of [newHeldContent(), text()]) {
    const held = heldTurns("rest");
    const items = newItems<unknown>(content, "item", held.turns, MAX_RECORDS);
    const packs = await held.beginUntil(items.pack(itemsOf(10_000, "text")));
    assert(packs.length > 10, `${packs.length}`);
    assertEquals(held.kinds.length, packs.length);
    const parts = await held.beginUntil(items.encode(packs, new Set()));
    assertEquals([parts.length, held.kinds.length], [packs.length, 2 * packs.length]);
  }
});

Deno.test("items of many parts are decoded in a turn of their own, those of few at once", async () => {
  for (const [count, kinds] of [[500, ["large"]], [499, []]] as const) {
    const held = heldTurns();
    const items = newItems(newHeldContent(), "item", held.turns, MAX_RECORDS);
    const parts = Array.from({ length: count }, (_, at) => ({
      ...{ key: `p${at}`, names: [`i${at}`], bytes: 1 },
      body: [{ id: `i${at}` }],
    }));
    const decoded = await items.decode(parts, new Map());
    assertEquals(decoded.ok && decoded.value?.length, count);
    assertEquals(held.kinds, kinds);
  }
});
