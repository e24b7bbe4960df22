import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { configOf } from "../config/parse.ts";

function config(observability: string): string {
  return `security:
  enabled: true
  api_key:
    keys:
      - {name: ada, value: sk-ada, labels: {team: blue, floor: 3}}
      - {name: bob, value: sk-bob}
providers: {up: {type: compat, base_url: "http://up.test", api_key: k}}
routing: {routes: [{name: main, targets: [{provider: up, model: gpt-4o}]}]}
pricing: {"up/gpt-4o": {input: 1, output: 1}}
${observability}
`;
}

function gatewayWith(observability: string) {
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const fetch = () => answers(200, { ...COMPLETION, usage });
  const { app, gateway, log } = testGateway(config(observability), scriptedWorld({ fetch }));
  return {
    gateway,
    log,
    async ask(name: string) {
      const headers = { authorization: `Bearer sk-${name}` };
      const answer = await app(chatRequest({ headers, body: { model: "gpt-4o" } }));
      await answer.text();
    },
    lines: async (metric: string) =>
      (await gateway.metrics.scrape()).split("\n").filter((line) => line.startsWith(`${metric}{`)),
  };
}

Deno.test("without observability.key_labels no log line and no metric has a label of a key", async () => {
  const { ask, log, gateway } = gatewayWith("");
  await ask("ada");
  assert(!log.join("").includes("key_"), log.join(""));
  assert(!(await gateway.metrics.scrape()).includes("key_"));
});

Deno.test("a listed label is in the access line and in the counters of requests, tokens and cost", async () => {
  const { ask, log, lines, gateway } = gatewayWith("observability: {key_labels: [team]}");
  await ask("ada");
  await ask("bob");
  const [first = "", second = ""] = log.filter((line) => line.includes('"msg":"request"'));
  assert(first.includes('"key_team":"blue"') && !first.includes("floor"), first);
  assert(!second.includes("key_"), second);
  for (
    const metric of ["gateway_requests_total", "gateway_tokens_total", "gateway_cost_usd_total"]
  ) {
    const counted = await lines(metric);
    const values = new Set(counted.map((line) => /key_team="(.*?)"/.exec(line)?.[1]));
    assertEquals(values, new Set(["blue", ""]), counted.join("\n"));
  }
  assert(!(await gateway.metrics.scrape()).includes("floor"));
});

Deno.test("a reload of the labels adds no label to the metrics of a running gateway", async () => {
  const { ask, lines, gateway } = gatewayWith("observability: {key_labels: [team]}");
  gateway.reload(configOf(config("observability: {key_labels: [floor, team]}")));
  await ask("ada");
  const [line = ""] = await lines("gateway_requests_total");
  assert(line.includes('key_team="blue"') && !line.includes("floor"), line);
});
