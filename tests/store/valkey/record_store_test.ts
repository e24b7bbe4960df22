import { newValkeyRecordStore } from "../../../src/store/valkey/record_store.ts";
import { HAS_SERVER, sharedValkeyServer, valkeyTest } from "../../support/valkey_server.ts";
import { type RecordsUnderTest, testRecords } from "../conformance/records.ts";
import { connect } from "./connections.ts";
import { newPrefix } from "./stores.ts";

const server = await sharedValkeyServer();

const records: RecordsUnderTest = {
  name: "valkey",
  clock: "own",
  numRuns: 10,
  async open({ bounds }) {
    const start = `{${newPrefix()}}:`;
    const connections = await Promise.all([connect(server.url), connect(server.url)]);
    const [store, other] = connections.map((one) => newValkeyRecordStore(one, start, bounds));
    if (store === undefined || other === undefined) throw new Error("not connected");
    return {
      store,
      advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      another: () => Promise.resolve(other),
      close: async () => void await Promise.all(connections.map((one) => one.close())),
    };
  },
};

if (HAS_SERVER) testRecords(records);
else valkeyTest("the records of valkey are those of every engine", () => Promise.resolve());
