import { newMemoryObjectStore } from "../../../src/state/memory/object_store.ts";
import { scriptedWorld } from "../../support/world.ts";
import { testConversations } from "../conformance/conversations.ts";
import type { Objects, StoreUnderTest } from "../conformance/harness.ts";
import { testOwners } from "../conformance/owners.ts";

const memory: StoreUnderTest<Objects> = {
  name: "memory",
  clock: "scripted",
  numRuns: 100,
  open(retention) {
    const world = scriptedWorld();
    const objects = newMemoryObjectStore(() => world.now(), retention);
    return Promise.resolve({
      store: { objects },
      advance: (ms) => world.advance(ms),
      close: () => Promise.resolve(),
    });
  },
};

testOwners(memory);
testConversations(memory);
