import { newSoakClient } from "../../../scripts/soak/client.ts";
import { configText, plainSetting } from "../../../scripts/soak/config.ts";
import { startGateway } from "../../../scripts/soak/gateway_process.ts";
import { problemOf } from "../../../scripts/soak/load.ts";
import { readGauges } from "../../../scripts/soak/metrics.ts";
import { openSoakStore, type StoreName } from "../../../scripts/soak/store.ts";
import { serveUpstream } from "../../../scripts/soak/upstream.ts";
import { outageUse } from "../../../scripts/soak/uses/outages.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { HAS_SERVER, valkeyTest } from "../../support/valkey_server.ts";
import { withSoakGateway } from "./run_once.ts";

/** Runs the uses of the outages of a store over a gateway process. Returns their problems. */
async function problemsOver(store: StoreName, workers: number): Promise<readonly string[]> {
  const folder = await Deno.makeTempDir();
  await using started = new AsyncDisposableStack();
  started.defer(() => Deno.remove(folder, { recursive: true }));
  const upstream = started.use(serveUpstream());
  const { settings, outages } = await openSoakStore(store, folder, started);
  const setting = { ...plainSetting(upstream.url), workers, state: settings };
  const gateway = await startGateway(setting, folder, started);
  const http = started.use(Deno.createHttpClient({}));
  const problems: string[] = [];
  // Without root a file has none.
  if (store === "valkey") assertEquals(outages.length, 2);
  for (const [turn, outage] of outages.entries()) {
    const client = newSoakClient({ number: turn, turn }, gateway.url, http, upstream);
    const problem = await problemOf(outageUse(outage), client);
    if (problem !== null) problems.push(problem);
  }
  await gateway.reload(configText(setting, 1));
  const { timers, liveBytes } = await gateway.holdings();
  assert(timers > workers && liveBytes > workers * 10e6);
  assertEquals((await readGauges(gateway.url)).lostWrites, 0);
  assertEquals(gateway.complaints, []);
  assertEquals(await gateway.stop(), 0);
  return problems;
}

valkeyTest(
  "two workers whose server is silent, or starts again empty, lose nothing that they delivered",
  async () => {
    assert(HAS_SERVER);
    assertEquals(await problemsOver("valkey", 2), []);
  },
);

Deno.test("a gateway whose file is on a full disk loses nothing that it delivered", async () => {
  assertEquals(await problemsOver("sqlite", 1), []);
});

Deno.test("a soak notices an outage without effect", async () => {
  const none = () => Promise.resolve();
  const outage = { name: "not at all", forgets: false, begin: none, end: none };
  const problem = await withSoakGateway(async ({ url, upstream }) => {
    using http = Deno.createHttpClient({});
    const client = newSoakClient({ number: 0, turn: 0 }, url, http, upstream);
    return await problemOf(outageUse(outage), client);
  });
  assertMatch(problem ?? "", /not at all: .* 40 responses are stored without a store$/);
});
