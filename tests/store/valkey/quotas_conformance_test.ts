import { newSharedQuotas, type SharedQuotas } from "../../../src/store/quotas/shared_quotas.ts";
import type { ValkeyConnection } from "../../../src/store/valkey/connection.ts";
import { newValkeyQuotas } from "../../../src/store/valkey/quotas.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { HAS_SERVER, sharedValkeyServer, valkeyTest } from "../../support/valkey_server.ts";
import { scriptedWorld } from "../../support/world.ts";
import type { StoreUnderTest } from "../conformance/harness.ts";
import { type Quotas, testQuotas } from "../conformance/quotas.ts";
import { newTestConnection, PATIENT_TIMEOUT_MS, valkeySettings } from "./connections.ts";
import { withScriptedTime } from "./scripted_time.ts";

const server = await sharedValkeyServer();

/** Two replicas with a connection each; the server's time is that of the test. */
const valkey: StoreUnderTest<Quotas> = {
  name: "valkey with a scripted clock",
  clock: "scripted",
  numRuns: 15,
  async open() {
    await server.command("FLUSHALL");
    const world = scriptedWorld();
    const opened: { readonly connection: ValkeyConnection; readonly quotas: SharedQuotas }[] = [];
    const fallbacks: string[] = [];

    async function replica(): Promise<Quotas> {
      const settings = valkeySettings(server.url, { timeout: PATIENT_TIMEOUT_MS });
      const { connection } = await newTestConnection(settings);
      assert(await connection.open(5_000));
      const scripted = withScriptedTime(connection, world.now);
      const quotas = newSharedQuotas(newValkeyQuotas(scripted, settings.prefix), {
        world,
        onOutage: "refuse",
        onFallback: (operation) => void fallbacks.push(operation),
      });
      opened.push({ connection, quotas });
      return { quotas };
    }

    const close = async () => {
      for (const { connection, quotas } of opened.splice(0)) {
        await quotas.close();
        await connection.close();
      }
    };
    const store = await replica();
    return {
      store,
      advance: (ms) => world.advance(ms),
      another: replica,
      reopen: replica,
      async close() {
        await close();
        assertEquals(fallbacks, []);
      },
    };
  },
};

if (HAS_SERVER) testQuotas(valkey);
else valkeyTest("quotas have the properties of every store", () => Promise.resolve());
