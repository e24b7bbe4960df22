import { newMemoryObjectStore } from "../../../src/store/memory/object_store.ts";
import { MAX_NAMED_PARTS } from "../../../src/store/records/record_store.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import type { LoopTurns, TurnKind } from "../../../src/traffic/loop_turns.ts";
import { assertEquals } from "../../support/assert.ts";
import { stored } from "../../support/object_store.ts";
import { SHARING } from "../conformance/harness.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };

Deno.test(`of different items with one ID a lookup examines ${MAX_NAMED_PARTS}, the youngest ones`, async () => {
  const { responses } = newMemoryObjectStore(() => 0);
  for (let at = 0; at <= MAX_NAMED_PARTS; at++) {
    const snapshot = { resource: {}, input: [{ id: "same", at }] };
    await stored(responses.store(`r${at}`, { owner: OWNER, snapshot, isNative: false }, SHARING));
  }
  const found = await stored(responses.findItems(new Set(["same"])));
  const youngest = Array.from({ length: MAX_NAMED_PARTS }, (_, at) => ({ id: "same", at: at + 1 }));
  assertEquals(found.map(({ item }) => item), youngest);
});

Deno.test("a lookup of many items has its turns of the event loop, one of few has none", async () => {
  const taken: TurnKind[] = [];
  const turns: LoopTurns = {
    next(kind) {
      taken.push(kind);
      return null;
    },
  };
  const { responses } = newMemoryObjectStore(() => 0, DEFAULT_RETENTION, turns);
  const ids = Array.from({ length: 600 }, (_, at) => `msg_${at}`);
  const snapshot = { resource: {}, input: ids.map((id) => ({ id })) };
  await stored(responses.store("r", { owner: OWNER, snapshot, isNative: false }, SHARING));
  taken.length = 0;
  assertEquals((await stored(responses.findItems(new Set(ids)))).length, 600);
  assertEquals(taken, ["large", "large"]);
  taken.length = 0;
  assertEquals((await stored(responses.findItems(new Set(ids.slice(0, 10))))).length, 10);
  assertEquals(taken, []);
});
