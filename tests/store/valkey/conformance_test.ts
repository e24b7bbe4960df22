import { newEncryptingCodec } from "../../../src/store/records/encrypting_codec.ts";
import { newPlainCodec } from "../../../src/store/records/plain_codec.ts";
import type { RecordCodec } from "../../../src/store/records/record_codec.ts";
import type { StateStore } from "../../../src/store/state_store.ts";
import { HAS_SERVER, sharedValkeyServer, valkeyTest } from "../../support/valkey_server.ts";
import { testCachedResponses } from "../conformance/cached_responses.ts";
import { testConversations } from "../conformance/conversations.ts";
import type { StoreUnderTest } from "../conformance/harness.ts";
import { testMaintenance } from "../conformance/maintenance.ts";
import { testOwners } from "../conformance/owners.ts";
import { testPrivacyValues } from "../conformance/privacy_values.ts";
import { testQuotas } from "../conformance/quotas.ts";
import { testReasoning } from "../conformance/reasoning.ts";
import { testResponses } from "../conformance/responses.ts";
import { PATIENT_TIMEOUT_MS } from "./connections.ts";
import { newPrefix, type OpenedTestStore, openTestStore } from "./stores.ts";

const server = await sharedValkeyServer();

function valkey(name: string, codec: RecordCodec, numRuns: number): StoreUnderTest<StateStore> {
  return {
    name,
    clock: "own",
    numRuns,
    async open(retention) {
      const options = {
        retention,
        codec,
        valkey: { prefix: newPrefix(), timeout: PATIENT_TIMEOUT_MS },
      };
      const others: OpenedTestStore[] = [];
      let first = await openTestStore(server.url, options);
      return {
        store: first.store,
        advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        async another() {
          const other = await openTestStore(server.url, options);
          others.push(other);
          return other.store;
        },
        async reopen() {
          await first.close();
          first = await openTestStore(server.url, options);
          return first.store;
        },
        async close() {
          await first.store.purge();
          await Promise.all([first, ...others].map((store) => store.close()));
        },
      };
    },
  };
}

if (HAS_SERVER) {
  const plain = valkey("valkey", newPlainCodec(), 6);
  testOwners(plain);
  testConversations(plain);
  testReasoning(plain);
  testResponses(plain);
  testCachedResponses(plain);
  testQuotas(plain);
  testMaintenance(plain);

  const encrypted = valkey("encrypted valkey", newEncryptingCodec([new Uint8Array(32).fill(7)]), 2);
  testReasoning(encrypted);
  testCachedResponses(encrypted);
  testPrivacyValues(encrypted);
} else valkeyTest("the store valkey has the properties of every store", () => Promise.resolve());
