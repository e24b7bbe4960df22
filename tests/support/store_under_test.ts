import { success } from "../../src/core/failure/result.ts";
import type { World } from "../../src/core/world.ts";
import type { GatewayOptions } from "../../src/gateway/gateway.ts";
import { newAvailableStore } from "../../src/store/availability/available_store.ts";
import { interceptedObjects } from "../../src/store/intercepted_objects.ts";
import type { GatewayStore } from "../../src/store/gateway_store.ts";
import { newMemoryQuotas } from "../../src/store/memory/quotas.ts";
import { newMemoryObjectStore } from "../../src/store/memory/object_store.ts";
import type { ObjectStore } from "../../src/store/object_store.ts";
import { DEFAULT_RETENTION } from "../../src/store/retention.ts";
import type { StateStore } from "../../src/store/state_store.ts";
import { newRealWorld } from "../../src/cli/real_world.ts";

/** Opens an empty store for one gateway; `release` removes what belongs to it once it is closed. */
export type OpenStoreUnderTest = (
  world: World,
) => Promise<{ readonly store: StateStore; release(): Promise<void> }>;

/** Stores of the gateways of one test. */
interface StoresUnderTest {
  readonly open: OpenStoreUnderTest;
  readonly closers: (() => Promise<void>)[];
}

/**
 * The tests of a file run one after the other, so one variable says which stores they are about.
 */
let current: StoresUnderTest | null = null;

/** Runs a test whose gateways store their objects in stores that `open` opens. */
export async function withStores(
  open: OpenStoreUnderTest,
  run: () => Promise<void>,
): Promise<void> {
  const stores: StoresUnderTest = { open, closers: [] };
  current = stores;
  try {
    await run();
  } finally {
    current = null;
    for (const close of stores.closers) await close();
  }
}

/**
 * Returns the option that puts the state of a gateway into a separate store of the running test;
 * none if the test is about the memory of the process. The store has this scripted clock, or the
 * real one.
 */
export function storeUnderTest(scripted: World | null): GatewayOptions {
  if (current === null) return {};
  const { open, closers } = current;
  const real = scripted === null ? newRealWorld() : null;
  const world = scripted ?? real;
  if (world === null) return {};
  const opening = open(world);
  let opened: StateStore | null = null;
  const ready = opening.then(({ store }) => void (opened = store));

  function objects(): ObjectStore {
    if (opened === null) throw new Error("the store is used before it is open");
    return opened.objects;
  }

  const store: StateStore = {
    name: "sqlite",
    objects: interceptedObjects({
      responses: late(() => objects().responses, {}),
      conversations: late(() => objects().conversations, { maxBytes: DEFAULT_RETENTION.maxBytes }),
      owners: {
        chat_completion: late(() => objects().owners.chat_completion, {}),
        conversation: late(() => objects().owners.conversation, {}),
        relayed_object: late(() => objects().owners.relayed_object, {}),
      },
      reasoning: late(() => objects().reasoning, {}),
      stats: () => (opened === null ? newMemoryObjectStore(() => 0) : objects()).stats(),
    }, async (_operation, start) => {
      await ready;
      return await start();
    }),
    usage: {
      add: () => Promise.resolve(success(undefined)),
      read: () => Promise.resolve(success([])),
    },
    cachedResponses: { get: () => null, set() {} },
    privacyValues: null,
    quotas: newMemoryQuotas(() => world.now()),
    ping: () => opening.then(({ store }) => store.ping()),
    stats: () => opening.then(({ store }) => store.stats()),
    purge: () => opening.then(({ store }) => store.purge()),
    close: () => opening.then(({ store }) => store.close()),
  };
  const available: GatewayStore = newAvailableStore(store, {
    world,
    log: { info() {}, warn() {}, error() {} },
    settings: { ttl: DEFAULT_RETENTION.ttlMs, max_bytes: DEFAULT_RETENTION.maxBytes },
    onFailure() {},
    onLoss() {},
  });
  closers.push(async () => {
    await available.close();
    await (await opening).release();
    real?.close();
  });
  return { store: available };
}

/** Returns a part of a store that is looked up at each use; `known` are its constants. */
function late<Part extends object>(part: () => Part, known: Partial<Part>): Part {
  return new Proxy(known as Part, {
    get: (constants, name) => Reflect.get(name in constants ? constants : part(), name),
  });
}
