import { endOf } from "../../src/observe/report.ts";
import { configOf } from "../config/parse.ts";
import { heldUpstream } from "../e2e/held_upstream.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { answers, type ChatOptions, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { reloadable } from "./reloadable.ts";

function config(route: string, provider = "", more = ""): string {
  return `
providers: {up: {type: compat, base_url: "http://up"${provider}}}
routing: {routes: [{name: ${route}, targets: [{provider: up, model: m-${route}}]}]}
retry: {enabled: false}
${more}`;
}

/** A call that leaves the model to the route. */
function anyModel(body: ChatOptions["body"] = {}): Request {
  return chatRequest({ body: { model: "auto", ...body } });
}

/** Where a call has gone. */
function way(headers: Headers) {
  return ["route", "model"].map((name) => headers.get(`x-gateway-${name}`));
}

Deno.test("a call that runs keeps its configuration, the next one gets the new one", async () => {
  const upstream = heldUpstream();
  let isFirst = true;
  const { gateway, app, world } = reloadable(config("old"), {
    fetch(url, init) {
      if (!isFirst) return answers(200, COMPLETION);
      isFirst = false;
      return upstream.fetch(url, init);
    },
  });
  const running = app(anyModel());
  await world.advance(0);
  const changes = gateway.reload(configOf(config("new", ", api_key: changed")));
  assertEquals(changes, ["providers: up changed", "routes: new added, old removed"]);
  assertEquals(way((await got(await app(anyModel()))).headers), ["new", "m-new"]);
  upstream.answer("application/json");
  upstream.send(JSON.stringify(COMPLETION));
  upstream.end();
  const answer = await got(await running);
  assertEquals([answer.status, ...way(answer.headers)], [200, "old", "m-old"]);
});

Deno.test("a stream continues at its provider after a reload has removed the provider", async () => {
  const upstream = heldUpstream();
  const { gateway, app, reports } = reloadable(config("old"), { fetch: upstream.fetch });
  const running = app(anyModel({ stream: true }));
  upstream.answer();
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const choice = { index: 0, delta: { content: "Hi" }, finish_reason: null };
  upstream.send(`data: ${JSON.stringify({ ...chunk, choices: [choice] })}\n\n`);
  const response = await running;
  gateway.reload(configOf(config("new").replaceAll("up", "other")));
  assertEquals([...gateway.generation.providers.keys()], ["other"]);
  const last = { index: 0, delta: {}, finish_reason: "stop" };
  upstream.send(`data: ${JSON.stringify({ ...chunk, choices: [last] })}\n\ndata: [DONE]\n\n`);
  upstream.end();
  assert((await response.text()).endsWith("data: [DONE]\n\n"));
  assertEquals(reports.map(endOf), ["complete"]);
});

Deno.test("cached responses outlive a reload unless the cache settings or the provider change", async () => {
  const { gateway, app } = reloadable(config("r", "", "caching: {enabled: true}"), {
    fetch: () => answers(200, COMPLETION),
  });
  async function lookUp() {
    const { headers } = await got(await app(anyModel()));
    return headers.get("x-gateway-cache-status");
  }
  function reload(provider: string, more: string) {
    gateway.reload(configOf(config("r", provider, more)));
  }
  assertEquals([await lookUp(), await lookUp()], ["MISS", "HIT"]);
  reload("", "caching: {enabled: true, ttl: 1h}\nlogging: {level: warn}");
  assertEquals(await lookUp(), "HIT");
  reload("", "caching: {enabled: true, ttl: 2h}");
  assertEquals([await lookUp(), await lookUp()], ["MISS", "HIT"]);
  reload(", api_key: changed", "caching: {enabled: true, ttl: 2h}");
  assertEquals([await lookUp(), await lookUp()], ["MISS", "HIT"]);
  reload(", api_key: changed", "");
  assertEquals(await lookUp(), null);
});

Deno.test("a breaker belongs to the account, whatever else is reloaded", async () => {
  const strict = "circuit_breaker: {failure_threshold: 1}";
  const { gateway, app } = reloadable(config("r", ", api_key: first", strict), {
    fetch: () => answers(500, { error: { message: "no" } }),
  });
  async function ask() {
    return (await got(await app(anyModel()))).status;
  }
  assertEquals([await ask(), await ask()], [500, 503]);
  gateway.reload(configOf(config("r", ", api_key: first, timeout: 9s", strict)));
  assertEquals(await ask(), 503);
  gateway.reload(configOf(config("r", ", api_key: second", strict)));
  assertEquals(await ask(), 500);
});

Deno.test("a disabled breaker is reported as closed, though it was open", async () => {
  const broken = { fetch: () => answers(500, "") };
  const { gateway, app } = reloadable(
    config("old", "", "circuit_breaker: {failure_threshold: 1}"),
    broken,
  );
  assertEquals((await got(await app(anyModel()))).status, 500);
  const served = async () =>
    /^gateway_circuit_breaker_state\{.*$/m.exec(await gateway.metrics.scrape());
  assertEquals((await served())?.[0], 'gateway_circuit_breaker_state{provider="up"} 2');
  gateway.reload(configOf(config("old", "", "circuit_breaker: {enabled: false}")));
  assertEquals((await served())?.[0], 'gateway_circuit_breaker_state{provider="up"} 0');
});
