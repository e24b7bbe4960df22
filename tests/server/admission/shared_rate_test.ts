import type { QuotaScope } from "../../../src/store/quota_store.ts";
import { newCall } from "../../../src/server/new_call.ts";
import { admitToQuotas } from "../../../src/server/admission/limits.ts";
import { createApp } from "../../../src/server/app.ts";
import { endpointAt } from "../../observe/reports.ts";
import { endOf } from "../../../src/observe/report.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { answers, chatRequest, COMPLETION, got, verdictOf } from "../../support/chat_call.ts";
import { oneProvider, testGateway } from "../../support/gateway.ts";
import { holdQuotas } from "../../support/held_quotas.ts";
import { scriptedWorld } from "../../support/world.ts";
import { newRemoteAdmission } from "../../../src/server/admission/admit.ts";

const RATE = "rate_limiting: {enabled: true, requests_per_minute: 60, burst_size: 1}\n";
const KEYS = "security: {enabled: true, api_key: {keys: [{name: a, value: k}]}}\n";

function sharedGateway(lines = RATE) {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const served = testGateway(lines + oneProvider("http://up"), world);
  return { ...served, world, quotas: holdQuotas(served.gateway, world.now) };
}

function figures(headers: Headers): readonly (string | null)[] {
  return ["x-ratelimit-limit", "x-ratelimit-remaining", "retry-after"].map((name) =>
    headers.get(name)
  );
}

Deno.test("a call waits for the decision of a shared store and has the headers of one in memory", async () => {
  const { app, quotas } = sharedGateway();
  const ask = async (at: number) => {
    const response = app(chatRequest());
    await quotas.reached(at + 1);
    quotas.decide(at);
    return await got(await response);
  };
  const served = await ask(0);
  assertEquals([served.status, ...figures(served.headers)], [200, "60", "0", null]);
  const refused = await ask(1);
  assertEquals(verdictOf(refused), [429, "rate_limit_error", "rate_limit_exceeded"]);
  assertEquals(figures(refused.headers), ["60", "0", "1"]);
});

Deno.test("a call is 503 if the shared store cannot decide and the configuration refuses such calls", async () => {
  const { app, quotas, reports } = sharedGateway();
  const response = app(chatRequest());
  await quotas.reached(1);
  quotas.decide(0, { kind: "unavailable" });
  const refused = await got(await response);
  assertEquals(verdictOf(refused), [503, "server_error", "state_unavailable"]);
  assertEquals(figures(refused.headers), [null, null, "1"]);
  assertEquals(reports.map(endOf), ["state_unavailable"]);
});

Deno.test("a client that disconnects while the store is queried ends its call at once, and no upstream is called", async () => {
  const { app, quotas, reports, gateway } = sharedGateway();
  const client = new AbortController();
  const response = app(chatRequest({ signal: client.signal }));
  await quotas.reached(1);
  client.abort();
  assertEquals((await response).status, 499);
  assertEquals(reports.map(endOf), ["client_gone"]);
  assertEquals(reports[0]?.attempts, []);
  quotas.decide(0);
  assertEquals([gateway.state.inFlight.count, gateway.state.admission.count()], [0, 0]);
});

Deno.test("every path waits for the shared store, also those that have no endpoint", async () => {
  const { app, quotas } = sharedGateway(KEYS + RATE);
  const key = { host: "localhost", authorization: "Bearer k" };
  const cases: readonly (readonly [status: number, path: string, headers: HeadersInit])[] = [
    [404, "/v1/nowhere", key],
    [405, "/v1/embeddings", key],
    [426, "/v1/responses", key],
    [401, "/v1/models", { host: "localhost" }],
    [200, "/v1/models", key],
  ];
  for (const [at, [status, path, headers]] of cases.entries()) {
    const response = app(new Request(`http://localhost${path}`, { headers }));
    await quotas.reached(at + 1);
    quotas.decide(at, {
      kind: "admitted",
      rests: [{ requests: 7, tokens: null, spent: [] }],
    });
    const received = await got(await response);
    assertEquals([received.status, ...figures(received.headers)], [status, "60", "7", null], path);
  }
});

Deno.test("calls without a valid key are 429 by the decision of the shared store for their address", async () => {
  const { app, quotas } = sharedGateway(KEYS + RATE);
  for (const [at, status] of [401, 429].entries()) {
    const response = app(chatRequest());
    await quotas.reached(at + 1);
    quotas.decide(at);
    assertEquals((await got(await response)).status, status);
  }
});

Deno.test("calls from the dashboard wait for the shared store too", async () => {
  const { gateway, quotas } = sharedGateway();
  const remote = createApp(gateway, newRemoteAdmission(gateway));
  for (const [at, status] of [200, 429].entries()) {
    const response = remote(chatRequest());
    await quotas.reached(at + 1);
    quotas.decide(at);
    assertEquals((await response).status, status);
  }
});

Deno.test("without rate_limiting no store is queried", async () => {
  const { app, quotas } = sharedGateway(KEYS);
  const headers = { authorization: "Bearer k" };
  assertEquals((await got(await app(chatRequest({ headers })))).status, 200);
  assertEquals((await got(await app(chatRequest()))).status, 401);
  assertEquals(quotas.asked, []);
});

Deno.test("a concurrent call that is granted after the client has gone is given back without use", async () => {
  const { gateway, quotas, world } = sharedGateway();
  const limits = { requests: null, tokensPerMinute: null, maxConcurrent: 1, budgets: [] };
  const free = { ...limits, maxConcurrent: null };
  const scopes: QuotaScope[] = [{ caller: "key a", limits }, { caller: "group b", limits: free }];
  const request = new Request("http://localhost/v1/models");
  const call = newCall(gateway, request, "/v1/models", endpointAt("/v1/models", "GET"));
  const entered = admitToQuotas(call, scopes, () => null);
  call.cancellation.clientDisconnected();
  const refused = await entered;
  assert(refused !== null && refused.failure.kind === "client_cancelled");
  quotas.decide(0);
  await world.advance(0);
  assertEquals(quotas.settled, [[call.id, [
    { caller: "key a", tokensPerMinute: null, holdsSlot: true, tokens: 0, spends: [] },
  ]]]);
});

Deno.test("a store that throws fails the call as a bug of the gateway", async () => {
  const { app, gateway, reports } = sharedGateway();
  const admit = () => Promise.reject(new RangeError("secret words"));
  Object.assign(gateway.state, { quotas: { ...gateway.state.quotas, admit } });
  const received = await got(await app(chatRequest()));
  assertEquals(verdictOf(received), [500, "server_error", "internal_error"]);
  assertEquals(reports[0]?.bug?.split("\n")[0], "RangeError");
});
