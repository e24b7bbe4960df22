import { newMemoryQuotas } from "../../../src/store/memory/quotas.ts";
import { newMemoryObjectStore } from "../../../src/store/memory/object_store.ts";
import { testConversations } from "../conformance/conversations.ts";
import type { Objects, StoreUnderTest } from "../conformance/harness.ts";
import { testOwners } from "../conformance/owners.ts";
import { type Quotas, testQuotas } from "../conformance/quotas.ts";
import { testReasoning } from "../conformance/reasoning.ts";
import { testResponses } from "../conformance/responses.ts";

const memory: StoreUnderTest<Objects & Quotas> = {
  name: "memory",
  clock: "scripted",
  numRuns: 150,
  open(retention) {
    let time = 0;
    const objects = newMemoryObjectStore(() => time, retention);
    return Promise.resolve({
      store: { objects, quotas: newMemoryQuotas(() => time) },
      advance: (ms) => Promise.resolve(void (time += ms)),
      close: () => Promise.resolve(),
    });
  },
};

testOwners(memory, ["chat_completion", "conversation", "response"]);
testConversations(memory);
testReasoning(memory);
testResponses(memory);
testQuotas(memory);
