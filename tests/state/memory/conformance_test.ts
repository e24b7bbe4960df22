import { newMemoryObjectStore } from "../../../src/state/memory/object_store.ts";
import { testConversations } from "../conformance/conversations.ts";
import type { Objects, StoreUnderTest } from "../conformance/harness.ts";
import { testOwners } from "../conformance/owners.ts";
import { testReasoning } from "../conformance/reasoning.ts";
import { testResponses } from "../conformance/responses.ts";

const memory: StoreUnderTest<Objects> = {
  name: "memory",
  clock: "scripted",
  numRuns: 100,
  open(retention) {
    let time = 0;
    const objects = newMemoryObjectStore(() => time, retention);
    return Promise.resolve({
      store: { objects },
      advance: (ms) => Promise.resolve(void (time += ms)),
      close: () => Promise.resolve(),
    });
  },
};

testOwners(memory);
testConversations(memory);
testReasoning(memory);
testResponses(memory);
