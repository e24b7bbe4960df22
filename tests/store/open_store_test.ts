import { newPlainCodec } from "../../src/store/records/plain_codec.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { OpenedStore, StateStore } from "../../src/store/state_store.ts";
import { openValkeyStore } from "../../src/store/valkey/open.ts";
import type { LoopTurns } from "../../src/traffic/loop_turns.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { heldTurns } from "../support/held_turns.ts";
import { stored } from "../support/object_store.ts";
import { sharedValkeyServer, valkeyTest } from "../support/valkey_server.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";
import { SHARING } from "./conformance/harness.ts";
import { settingsOf, withFile } from "./sqlite/store.ts";
import { newPrefix, storeSettings } from "./valkey/stores.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };

const server = await sharedValkeyServer();

const log = { warn() {}, error() {} };

/** Stores 10,000 items in a store that is opened with turns of the event loop. */
async function testTurns(open: (turns: LoopTurns) => Promise<OpenedStore>): Promise<void> {
  const held = heldTurns("rest");
  const store = opened(await open(held.turns));
  const input = Array.from({ length: 10_000 }, (_, at) => ({ id: `i${at}` }));
  const response = { owner: OWNER, snapshot: { resource: {}, input }, isNative: false };
  const { responses } = store.objects;
  await held.beginUntil(stored(responses.store("r", response, SHARING)));
  assert(held.kinds.length > 20, `${held.kinds.length}`);
  assertEquals((await stored(responses.find("r")))?.snapshot?.input, input);
  await store.close();
}

function opened(store: OpenedStore): StateStore {
  if (!store.ok) throw new Error(store.problem);
  return store.store;
}

Deno.test("10,000 items are stored in turns of the event loop (store sqlite)", () =>
  withFile(({ path, world }) =>
    testTurns((turns) =>
      openSqliteStore(settingsOf(path), { world, codec: newPlainCodec(), log, turns })
    )
  ));

valkeyTest("10,000 items are stored in turns of the event loop (store valkey)", async () => {
  const world = newRealWorld();
  const settings = storeSettings(server.url, { valkey: { prefix: newPrefix() } });
  await testTurns((turns) =>
    openValkeyStore(settings, { world, codec: newPlainCodec(), log, turns })
  );
  world.close();
});
