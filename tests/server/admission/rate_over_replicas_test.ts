import { assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { startValkeyServer, valkeyTest } from "../../support/valkey_server.ts";
import { scriptedWorld } from "../../support/world.ts";
import { PATIENT_TIMEOUT_MS } from "../../store/valkey/connections.ts";
import { openTestStore } from "../../store/valkey/stores.ts";

const RATE = "rate_limiting: {enabled: true, requests_per_minute: 1, burst_size: 5}\n";

valkeyTest("two gateways over one server admit a burst once between them", async () => {
  const server = await startValkeyServer();
  const stores = [
    await openTestStore(server.url, { valkey: { timeout: PATIENT_TIMEOUT_MS } }),
    await openTestStore(server.url, { valkey: { timeout: PATIENT_TIMEOUT_MS } }),
  ];
  const apps = stores.map(({ store }) => {
    const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
    const { app, gateway } = testGateway(RATE + oneProvider("http://up"), world);
    Object.assign(gateway.state, { quotas: store.quotas });
    return app;
  });
  const ask = (count: number) =>
    Promise.all(Array.from({ length: count }, async (_, number) => {
      const response = await apps[number % 2]?.(chatRequest());
      if (response === undefined) return "";
      const { status, headers } = await got(response);
      return `${status} ${headers.get("x-ratelimit-remaining")}`;
    }));
  assertEquals((await ask(20)).toSorted(), [
    ...["200 0", "200 1", "200 2", "200 3", "200 4"],
    ...Array.from({ length: 15 }, () => "429 0"),
  ]);
  await Promise.all(stores.map(({ close }) => close()));
  await server.close();
});
