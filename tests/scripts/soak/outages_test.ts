import { newSoakClient, receive, textIn } from "../../../scripts/soak/client.ts";
import { configText, MAX_ENTRIES_COUNT, plainSetting } from "../../../scripts/soak/config.ts";
import { startGateway } from "../../../scripts/soak/gateway_process.ts";
import { problemOf } from "../../../scripts/soak/load.ts";
import { readGauges } from "../../../scripts/soak/metrics.ts";
import { openSoakStore, type Outage, type StoreName } from "../../../scripts/soak/store.ts";
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

/** An outage that never begins. */
const NO_OUTAGE: Outage = {
  name: "not at all",
  forgets: false,
  begin: () => Promise.resolve(),
  end: () => Promise.resolve(),
};

Deno.test("a soak notices an outage without effect", async () => {
  const problem = await withSoakGateway(async ({ url, upstream }) => {
    using http = Deno.createHttpClient({});
    const client = newSoakClient({ number: 0, turn: 0 }, url, http, upstream);
    return await problemOf(outageUse(NO_OUTAGE), client);
  });
  assertMatch(problem ?? "", /not at all: .* 24 responses are stored without a store$/);
});

Deno.test("no response of an outage makes room for another one, although the store is full", async () => {
  const path = "/v1/responses";
  const statuses = await withSoakGateway(async ({ url, upstream }) => {
    using http = Deno.createHttpClient({});
    const clientOf = (number: number) => newSoakClient({ number, turn: 0 }, url, http, upstream);
    // The clients have keys in turn.
    for (let number = 0; number < MAX_ENTRIES_COUNT; number++) {
      await clientOf(number).ok("POST", path, { model: "compat/sim-echo", input: "Hello." });
    }
    const client = clientOf(MAX_ENTRIES_COUNT);
    const ids: string[] = [];
    await problemOf(outageUse(NO_OUTAGE), {
      ...client,
      async send(method, ...request) {
        const response = await client.send(method, ...request);
        if (method === "POST") ids.push(textIn(await receive(response.clone()), "id"));
        return response;
      },
    });
    const reads = ids.map((id) => client.send("GET", `${path}/${id}`));
    const received = await Promise.all(reads.map(async (read) => await receive(await read)));
    return received.map(({ status }) => status);
  });
  assertEquals(statuses, Array.from({ length: 25 }, () => 200));
});
