import { newEncryptingCodec } from "../../../src/store/records/encrypting_codec.ts";
import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import type { RecordCodec } from "../../../src/store/records/record_codec.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { testCachedResponses } from "../conformance/cached_responses.ts";
import { testConversations } from "../conformance/conversations.ts";
import type { StoreUnderTest } from "../conformance/harness.ts";
import { testMaintenance } from "../conformance/maintenance.ts";
import { testOwners } from "../conformance/owners.ts";
import { testPrivacyValues } from "../conformance/privacy_values.ts";
import { testQuotas } from "../conformance/quotas.ts";
import { testReasoning } from "../conformance/reasoning.ts";
import { testResponses } from "../conformance/responses.ts";
import { newThreadStarter } from "./kept_threads.ts";
import { newMemoryFolder, newTestFile } from "./store.ts";

function sqlite(name: string, codec: RecordCodec, numRuns: number): StoreUnderTest<StateStore> {
  return {
    name,
    clock: "scripted",
    numRuns,
    async open(retention) {
      const folder = await newMemoryFolder();
      const file = newTestFile(folder, codec);
      const threads = newThreadStarter();
      let store = await file.open({ start: threads.start }, retention);
      return {
        store,
        advance: (ms) => file.world.advance(ms),
        async reopen() {
          await store.close();
          threads.end();
          store = await file.open({}, retention);
          return store;
        },
        async close() {
          await store.close();
          await Deno.remove(folder, { recursive: true });
        },
      };
    },
  };
}

const plain = sqlite("sqlite", newPlainCodec(), 5);

testOwners(plain);
testConversations(plain);
testReasoning(plain);
testResponses(plain);
testCachedResponses(plain);
testMaintenance(plain);
testQuotas(plain);

const encrypted = sqlite("encrypted sqlite", newEncryptingCodec([new Uint8Array(32).fill(7)]), 3);

testReasoning(encrypted);
testCachedResponses(encrypted);
testPrivacyValues(encrypted);
