import type { JsonObject } from "../../../../src/core/json/json.ts";
import type { GatewayState } from "../../../../src/store/gateway_state.ts";
import { DEFAULT_RETENTION, heldBytes } from "../../../../src/store/retention.ts";
import { outputOf } from "../../../../src/store/snapshots.ts";
import { assert, assertEquals } from "../../../support/assert.ts";
import { stored } from "../../../support/object_store.ts";
import { create } from "../../../support/socket_client.ts";
import { EVERY_TYPE, simulated } from "../../../support/simulated.ts";
import { socketGateway } from "../../../support/socket_gateway.ts";
import { objectsAt, textAt } from "../../../support/state_call.ts";
import { idOf, type Stateful, stateful } from "../stateful.ts";

const TURN_COUNT = 100;
const ITEM_BYTES = 1_000;

// Files and servers identify items in the same way, whatever brings the items to them: see the test
// of dialogues of every store.

/** Dialogues of 100 turns that must fit into the memory of all responses. */
const MIN_DIALOGUES = 20;

function message(text: string): JsonObject {
  return { role: "user", content: text.padEnd(ITEM_BYTES, "x") };
}

function inputOf(turn: number): JsonObject[] {
  return ["a", "b", "c"].map((name) => message(`${turn}${name}`));
}

function gateway(): Stateful {
  let turn = 0;
  return stateful(undefined, () => ({ message: { content: `${turn++}`.padEnd(ITEM_BYTES, "y") } }));
}

function bytesIn({ objects }: GatewayState): number {
  return objects.stats().responses.bytes;
}

/** Checks that all turns are stored whole, in memory for many such dialogues. */
async function assertShared(state: GatewayState, ids: readonly string[]): Promise<void> {
  assert(bytesIn(state) * MIN_DIALOGUES < DEFAULT_RETENTION.maxBytes, `${bytesIn(state)} bytes`);
  for (const [turn, id] of ids.entries()) {
    const found = await stored(state.objects.responses.find(id));
    assertEquals(found?.snapshot?.input.length, 4 * turn + 3);
    assertEquals(found?.snapshot && outputOf(found.snapshot).length, 1);
  }
}

Deno.test(
  "a dialogue of 100 turns stores each item once, continued by the earlier response",
  async () => {
    const calls = gateway();
    const ids: string[] = [];
    for (let turn = 0; turn < TURN_COUNT; turn++) {
      const previous = ids.at(-1);
      const body = { input: inputOf(turn), ...previous && { previous_response_id: previous } };
      ids.push(idOf(await calls.created(body)));
    }
    await assertShared(calls.state, ids);
    for (const id of ids) assertEquals((await calls.delete(`/responses/${id}`)).status, 204);
    assertEquals(calls.state.objects.stats().responses, { entries: 0, bytes: 0 });
  },
);

Deno.test(
  "a dialogue of 100 turns stores each item once, continued in a conversation",
  async () => {
    const calls = gateway();
    const conversation = idOf((await calls.post("/conversations", {})).json);
    const ids: string[] = [];
    for (let turn = 0; turn < TURN_COUNT; turn++) {
      ids.push(idOf(await calls.created({ input: inputOf(turn), conversation })));
    }
    await assertShared(calls.state, ids);
  },
);

Deno.test("items that a client sends by reference are stored once in all turns", async () => {
  const turnsCount = 40;
  // If each turn stored its input again, the memory of all responses would have room for 34.
  const minDialogues = 50;
  const calls = gateway();
  const first = await calls.created({ input: inputOf(0) });
  const ids = [idOf(first)];
  for (let turn = 1; turn < turnsCount; turn++) {
    const { json } = await calls.get(`/responses/${ids.at(-1)}/input_items?order=asc&limit=100`);
    const items = objectsAt(json, "data");
    const input = [
      ...items.map((item) => ({ type: "item_reference", id: textAt(item, "id") })),
      ...turn <= 20 ? inputOf(turn) : [],
    ];
    ids.push(idOf(await calls.created({ input })));
  }
  assert(
    bytesIn(calls.state) * minDialogues < DEFAULT_RETENTION.maxBytes,
    `${bytesIn(calls.state)} bytes`,
  );
  const last = await stored(calls.state.objects.responses.find(ids.at(-1) ?? ""));
  assertEquals(last?.snapshot?.input.length, 63);
});

Deno.test(
  "the turns of a socket store each item once, with the IDs that are listed",
  async () => {
    await using served = socketGateway(EVERY_TYPE, simulated());
    await using client = await served.open();
    const ids: string[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const previous = ids.at(-1);
      const { response } = await client.turn(create({
        model: "compat/sim-echo",
        input: inputOf(turn),
        store: true,
        ...previous && { previous_response_id: previous },
      }));
      ids.push(textAt(response, "id"));
    }
    const { objects } = served.gateway.state;
    const snapshots = await Promise.all(
      ids.map(async (id) => (await stored(objects.responses.find(id)))?.snapshot),
    );
    const items = snapshots.flatMap((snapshot) =>
      snapshot ? [...snapshot.input, ...outputOf(snapshot)] : []
    );
    const distinct = new Set(items);
    assertEquals(distinct.size, 80);
    assertEquals(new Set([...distinct].map(({ id }) => id)).size, 80);
    const largest = Math.max(...[...distinct].map(heldBytes));
    assert(objects.stats().responses.bytes < 2 * 80 * largest);
  },
);
