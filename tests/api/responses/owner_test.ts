import { assertEquals, assertMatch } from "../../support/assert.ts";
import { testOverStores } from "../../support/over_stores.ts";
import { stored } from "../../support/object_store.ts";
import { objectsAt, refusalOf } from "../../support/state_call.ts";
import { idOf, type SentRequest, type Stateful, stateful, TWO } from "./stateful.ts";

const FAILING = ({ host, body }: SentRequest) => ({
  status: host === "first" && body.model === "m" ? 503 : 200,
});

/** Host and model of the last upstream call. */
function lastRequest({ requests }: Stateful): string {
  const last = requests.at(-1);
  return `${last?.host}/${String(last?.body.model)}`;
}

function follow(previous: string, more: Record<string, string> = {}) {
  return { input: "two", previous_response_id: previous, ...more };
}

testOverStores(
  "a continuation uses provider, model and route of the earlier response",
  async () => {
    const calls = stateful();
    const headers = { "x-gateway-provider": "second", "x-gateway-route": "other" };
    const first = idOf(await calls.created({ input: "one", model: "m1" }, headers));
    assertEquals(lastRequest(calls), "second/m1");
    const answer = await calls.post("/responses", follow(first));
    assertEquals(lastRequest(calls), "second/m1");
    assertEquals(answer.headers.get("x-gateway-route"), "other");
    await calls.created(follow(first, { model: "auto" }));
    assertEquals(lastRequest(calls), "second/m1");
  },
);

testOverStores(
  "a response of a fallback is continued at the fallback, with the same model",
  async () => {
    const calls = stateful(TWO, FAILING);
    const first = idOf(await calls.created({ input: "one" }));
    assertEquals(lastRequest(calls), "second/spare");
    const second = idOf(await calls.created(follow(first, { model: "m" })));
    assertEquals(lastRequest(calls), "second/spare");
    await calls.created(follow(second, { model: "m" }));
    assertEquals(lastRequest(calls), "second/spare");
  },
);

testOverStores("a continued response never falls back", async () => {
  let isDown = false;
  const calls = stateful(TWO, ({ host }) => ({ status: isDown && host === "first" ? 503 : 200 }));
  const first = idOf(await calls.created({ input: "one" }));
  isDown = true;
  const answer = await calls.post("/responses", { model: "m", ...follow(first) });
  assertEquals([answer.status, lastRequest(calls)], [503, "first/m"]);
});

testOverStores("a continuation may name another model and route of the same provider", async () => {
  const calls = stateful();
  const first = idOf(await calls.created({ input: "one" }));
  await calls.created(follow(first, { model: "m9" }));
  assertEquals(lastRequest(calls), "first/m9");
  const other = { "x-gateway-route": "other" };
  await calls.created(follow(first, { model: "m2" }), other);
  assertEquals(lastRequest(calls), "first/m2");
  const requests = calls.requests.length;
  const wrong = await calls.post("/responses", follow(first, { model: "m3" }), other);
  assertEquals(refusalOf(wrong), [400, "model_not_found", "model"]);
  assertEquals(calls.requests.length, requests);
});

testOverStores(
  "naming another provider than the owner is refused, by header and by model",
  async () => {
    const calls = stateful();
    const first = idOf(await calls.created({ input: "one" }));
    const expected = [400, "invalid_value", "provider"];
    const second = { "x-gateway-provider": "second" };
    assertEquals(refusalOf(await calls.post("/responses", follow(first), second)), expected);
    const canonical = follow(first, { model: "second/m" });
    assertEquals(refusalOf(await calls.post("/responses", canonical)), expected);
    assertEquals(refusalOf(await calls.get(`/responses/${first}`, second)), expected);
    assertEquals(refusalOf(await calls.delete(`/responses/${first}`, second)), expected);
    await calls.created(follow(first, { model: "first/m" }));
    assertEquals(
      (await calls.get(`/responses/${first}`, { "x-gateway-provider": "first" })).status,
      200,
    );
    const none = await calls.get(`/responses/${first}`, { "x-gateway-provider": "none" });
    assertEquals(refusalOf(none), [400, "provider_not_found", "provider"]);
  },
);

testOverStores(
  "an owner whose account has changed is stale, and its stored responses are not returned",
  async () => {
    const calls = stateful();
    const first = idOf(await calls.created({ input: "one" }));
    calls.reload(TWO.replace("sk-first", "sk-other"));
    const requests = calls.requests.length;
    const stale = (param: string) => [400, "provider_binding_stale", param];
    const answer = await calls.post("/responses", { model: "m", ...follow(first) });
    assertEquals(refusalOf(answer), stale("previous_response_id"));
    assertEquals(refusalOf(await calls.get(`/responses/${first}`)), stale("response_id"));
    assertEquals(refusalOf(await calls.delete(`/responses/${first}`)), stale("response_id"));
    const named = { "x-gateway-provider": "first" };
    const incapable = [400, "unsupported_feature", "provider"];
    assertEquals(refusalOf(await calls.get(`/responses/${first}`, named)), incapable);
    const followed = await calls.post("/responses", { model: "m", ...follow(first) }, named);
    assertEquals(refusalOf(followed), [400, "previous_response_not_found", "previous_response_id"]);
    assertEquals(calls.requests.length, requests);
  },
);

testOverStores(
  "references to items of a response with a stale owner are not resolved",
  async () => {
    const calls = stateful();
    const first = await calls.created({ input: "one" });
    const [message] = objectsAt(first, "output");
    const body = {
      model: "m",
      input: [{ id: message?.id ?? "" }, { role: "user", content: "two" }],
    };
    assertEquals((await calls.post("/responses", body)).status, 200);
    calls.reload(TWO.replace("sk-first", "sk-other"));
    const requests = calls.requests.length;
    const answer = await calls.post("/responses", body);
    assertEquals(refusalOf(answer), [400, "invalid_value", "input[0].id"]);
    assertEquals(calls.requests.length, requests);
  },
);

testOverStores(
  "an owner that is no longer configured is stale; other configuration changes have no effect",
  async () => {
    const calls = stateful();
    const first = idOf(await calls.created({ input: "one" }));
    calls.reload(TWO.replace("api_key: sk-first", "api_key: sk-first, timeout: 5s"));
    assertEquals((await calls.get(`/responses/${first}`)).status, 200);
    calls.reload(TWO.replaceAll("first", "renamed"));
    const stale = [400, "provider_binding_stale", "response_id"];
    assertEquals(refusalOf(await calls.get(`/responses/${first}`)), stale);
  },
);

testOverStores(
  "an ID of two accounts is a conflict, and the stored response is deleted permanently",
  async () => {
    const calls = stateful();
    const first = idOf(await calls.created({ input: "one" }));
    const other = { provider: "second", account: "x", origin: null, creator: null };
    await stored(calls.state.objects.responses.bind(first, other));
    const conflict = (param: string) => [400, "provider_binding_conflict", param];
    const answer = await calls.post("/responses", { model: "m", ...follow(first) });
    assertEquals(refusalOf(answer), conflict("previous_response_id"));
    for (const path of [`/responses/${first}`, `/responses/${first}/input_items`]) {
      assertEquals(refusalOf(await calls.get(path)), conflict("response_id"));
    }
    assertEquals(refusalOf(await calls.delete(`/responses/${first}`)), conflict("response_id"));
    const cancelled = await calls.post(`/responses/${first}/cancel`);
    assertEquals(refusalOf(cancelled), conflict("response_id"));
    assertEquals([calls.requests.length, calls.state.objects.stats().responses.entries], [1, 0]);
    const named = { "x-gateway-provider": "first" };
    const incapable = [400, "unsupported_feature", "provider"];
    assertEquals(refusalOf(await calls.get(`/responses/${first}`, named)), incapable);
  },
);

testOverStores("a response is deleted when its owner is evicted", async () => {
  const calls = stateful();
  const first = idOf(await calls.created({ input: "one" }));
  const other = { provider: "p", account: "x", origin: null, creator: null };
  for (let index = 0; index < 1000; index++) {
    await stored(calls.state.objects.responses.bind(`r${index}`, other));
  }
  assertEquals(calls.state.objects.stats().responses.entries, 0);
  const expected = [404, "response_not_found", "response_id"];
  assertEquals(refusalOf(await calls.get(`/responses/${first}`)), expected);
});

testOverStores("a route without the owner does not serve the owner's responses", async () => {
  const calls = stateful();
  const first = idOf(await calls.created({ input: "one" }));
  calls.reload(TWO.replace("targets: [{provider: first}]", "targets: [{provider: second}]"));
  const answer = await calls.post("/responses", { model: "m", ...follow(first) });
  assertEquals(refusalOf(answer), [400, "unsupported_feature", "previous_response_id"]);
  assertMatch(String(answer.error.message), /route 'main' has no target at the provider 'first'/);
  const named = await calls.post("/responses", follow(first), { "x-gateway-provider": "first" });
  assertEquals(refusalOf(named), [400, "provider_not_found", "provider"]);
});

testOverStores("a request for a response matches as its own type first, then as chat", async () => {
  const providers = ["a", "b"].map((id) => `  ${id}: {type: compat, base_url: "http://${id}"}`);
  const chat = "{name: chat, match: {path: /v1/chat/completions}, targets: [{provider: a}]}";
  const kinds = "{name: kind, match: {headers: {x-gateway-request-type: responses}}, " +
    "targets: [{provider: b}]}";
  const config = (routes: string) =>
    `providers:\n${providers.join("\n")}\nrouting: {routes: [${routes}]}\n`;
  const only = stateful(config(chat));
  await only.created({ input: "one" });
  assertEquals(lastRequest(only), "a/m");
  const both = stateful(config(`${chat}, ${kinds}`));
  await both.created({ input: "one" });
  assertEquals(lastRequest(both), "b/m");
  const none = stateful(
    config("{name: e, match: {path: /v1/embeddings}, targets: [{provider: a}]}"),
  );
  const answer = await none.post("/responses", { model: "m", input: "one" });
  assertEquals([answer.status, answer.error.type], [502, "routing_error"]);
});
