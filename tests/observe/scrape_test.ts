import { assert, assertEquals } from "../support/assert.ts";
import { answers, chatRequest, COMPLETION, got } from "../support/chat_call.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { samplesNamed } from "./exposition.ts";

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const PRICES = "pricing: {up/m: {input: 1, output: 10}}\n";

function gatewayThat(answer: () => Promise<Response>, settings = "") {
  return testGateway(
    `${oneProvider("http://up")}${PRICES}${settings}`,
    scriptedWorld({ fetch: answer }),
  );
}

const scrape = () => new Request("http://localhost/metrics");

Deno.test("/metrics responds in the Prometheus text format, also without an Accept header", async () => {
  const { app } = gatewayThat(() => answers(200, COMPLETION));
  const { status, headers, text } = await got(await app(scrape()));
  assertEquals(status, 200);
  assertEquals(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert(headers.get("x-gateway-request-id") !== null);
  for (const line of text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))) {
    assert(/^[a-z_]+(\{([a-z]+="[^"\n]*",?)+\})? \S+$/.test(line), line);
  }
});

Deno.test("a served call shows in its counters, its tokens and its cost", async () => {
  const { app, reports } = gatewayThat(() => answers(200, { ...COMPLETION, usage: USAGE }));
  await got(await app(chatRequest()));
  const { text } = await got(await app(scrape()));
  const labels = 'provider="up",model="_dynamic"';
  assertEquals(samplesNamed(text, "gateway_requests_total"), {
    [`{endpoint="/v1/chat/completions",${labels},route="main",status="200"}`]: 1,
  });
  assertEquals(samplesNamed(text, "gateway_cost_usd_total"), { [`{${labels}}`]: 0.0002 });
  assertEquals(reports[0]?.cost, 0.0002);
});

Deno.test("a scrape is a request like any other: active while it runs, then counted", async () => {
  const { app } = gatewayThat(() => answers(200, COMPLETION));
  const first = await got(await app(scrape()));
  const second = await got(await app(scrape()));
  const counted = '{endpoint="/metrics",provider="",model="",route="",status="200"}';
  assertEquals(samplesNamed(first.text, "gateway_requests_total"), {});
  assertEquals(samplesNamed(second.text, "gateway_requests_total"), { [counted]: 1 });
  for (const { text } of [first, second]) {
    assertEquals(samplesNamed(text, "gateway_active_requests"), { '{endpoint="/metrics"}': 1 });
  }
});

Deno.test("scrapes that come just after one share the next text", async () => {
  const world = scriptedWorld();
  let lookedAt = 0;
  // Each look at the clock takes 1 ms, so that the text takes time.
  const { app } = testGateway(oneProvider("http://up"), {
    ...world,
    now: () => world.now() + lookedAt++,
  });
  await got(await app(scrape()));
  let answered = 0;
  const others = Array.from({ length: 20 }, async () => {
    const { text } = await got(await app(scrape()));
    answered++;
    return text;
  });
  await world.advance(1);
  assertEquals(answered, 0);
  await world.advance(250);
  const [text = "", ...same] = [...new Set(await Promise.all(others))];
  assertEquals(same, []);
  assertEquals(samplesNamed(text, "gateway_active_requests"), { '{endpoint="/metrics"}': 20 });
});

Deno.test("unknown paths share one label", async () => {
  const { app } = gatewayThat(() => answers(200, COMPLETION));
  for (let n = 0; n < 20; n++) await got(await app(new Request(`http://localhost/${n}`)));
  const { text } = await got(await app(scrape()));
  assertEquals(samplesNamed(text, "gateway_requests_total"), {
    '{endpoint="",provider="",model="",route="",status="404"}': 20,
  });
  assertEquals(samplesNamed(text, "gateway_active_requests")['{endpoint=""}'], 0);
});

Deno.test("an endpoint is named by its path, without the pattern of its parameter", async () => {
  const { app } = gatewayThat(() => answers(200, COMPLETION));
  await got(await app(new Request("http://localhost/v1/models/up/none")));
  const { text } = await got(await app(scrape()));
  assertEquals(samplesNamed(text, "gateway_requests_total"), {
    '{endpoint="/v1/models/:model",provider="",model="",route="",status="404"}': 1,
  });
});

Deno.test("the breaker metric has the state at scrape time", async () => {
  const { app } = gatewayThat(
    () => answers(503, {}),
    "circuit_breaker: {failure_threshold: 1}\n",
  );
  const state = async () => {
    const { text } = await got(await app(scrape()));
    return samplesNamed(text, "gateway_circuit_breaker_state");
  };
  assertEquals(await state(), { '{provider="up"}': 0 });
  await got(await app(chatRequest()));
  assertEquals(await state(), { '{provider="up"}': 2 });
});

Deno.test("each attempt is reported with its number and its times", async () => {
  const world = scriptedWorld({ fetch: () => answers(503, {}) });
  const config = oneProvider("http://up").replace("{enabled: false}", "{max_attempts: 2}");
  const { app, reports } = testGateway(config, world);
  const answer = app(chatRequest());
  await world.advance(5_000);
  await got(await answer);
  const reported = reports[0]?.attempts.map(({ number, began, ended }) => [number, began, ended]);
  assertEquals(reported, [[1, 0, 0], [2, 900, 900]]);
});
