import { assertEquals } from "../../support/assert.ts";
import type { TurnKind } from "../../../src/traffic/loop_turns.ts";
import { type HeldTurns, heldTurns } from "../../support/held_turns.ts";
import { stateful, TWO } from "./stateful.ts";

/** Returns the body of a create with this many items, which are stored as several parts. */
function bodyOf(items: number) {
  const text = "x".repeat(Math.floor(100_000 / items));
  return {
    model: "m",
    input: Array.from({ length: items }, () => ({ role: "user", content: text })),
  };
}

/** Returns the number of turns for work on items. */
function turnsOf({ kinds }: HeldTurns, wanted: TurnKind): number {
  return kinds.filter((kind) => kind === wanted).length;
}

Deno.test("a create with 500 items is checked, sent and stored in turns of the event loop", async () => {
  const held = heldTurns("large");
  const calls = stateful(TWO, undefined, () => ({ turns: held.turns }));
  const stored = () => calls.state.objects.stats().responses.entries;
  const created = calls.created(bodyOf(500));
  await held.waits(1);
  held.begin();
  await held.waits(1);
  assertEquals([calls.requests.length, stored()], [0, 0], "checked, and not sent");
  held.begin();
  await held.waits(1);
  assertEquals([calls.requests.length, stored()], [1, 0], "sent, and not stored");
  held.begin();
  await created;
  assertEquals(stored(), 1);
  assertEquals(turnsOf(held, "large"), 3);
  // Each of the five parts is divided and encoded in a turn.
  assertEquals(turnsOf(held, "rest"), 2 * 5);
});

Deno.test("a create with many items that is refused has not waited for a second turn", async () => {
  const held = heldTurns("large");
  const calls = stateful(TWO, undefined, () => ({ turns: held.turns }));
  const { input } = bodyOf(500);
  const refused = calls.post("/responses", { model: "m", input: [...input, { role: 1 }] });
  assertEquals((await held.beginUntil(refused)).status, 400);
  assertEquals(turnsOf(held, "large"), 1);
});

Deno.test("a create with few items waits for no turn for its items", async () => {
  const held = heldTurns();
  const calls = stateful(TWO, undefined, () => ({ turns: held.turns }));
  await calls.created(bodyOf(498));
  assertEquals([turnsOf(held, "rest"), turnsOf(held, "large")], [0, 0]);
});

Deno.test("a create that names stored items of 256 KiB is written in a turn of the event loop, however few they are", async () => {
  const held = heldTurns("large");
  const calls = stateful(TWO, undefined, () => ({ turns: held.turns }));
  const input = (chars: number) => [{ role: "user", content: "x".repeat(chars) }];
  const turns = async (chars: number) => {
    const { id } = await held.beginUntil(calls.created({ model: "m", input: input(chars) }));
    const before = turnsOf(held, "large");
    await held.beginUntil(calls.created({ model: "m", previous_response_id: id, input: input(1) }));
    return turnsOf(held, "large") - before;
  };
  // One for its translation, and one to write it to its provider.
  assertEquals([await turns(100_000), await turns(300_000)], [0, 2]);
});
