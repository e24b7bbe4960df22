import { assertEquals, assertMatch } from "../../support/assert.ts";
import { chatRequest, got, verdictOf } from "../../support/chat_call.ts";
import { keyOf } from "../../support/client_keys.ts";
import { keys, type LimitedGateway, limitedGateway, USAGE } from "../../support/limited_gateway.ts";

const DAY_END = "2023-11-15T00:00:00Z";

async function ask({ app }: LimitedGateway, name = "ada") {
  return await got(await app(chatRequest({ headers: keyOf(name) })));
}

function figures(headers: Headers, ...names: readonly string[]): readonly (string | null)[] {
  return names.map((name) => headers.get(name));
}

Deno.test("a key with a rate of tokens waits until its bucket is above zero, as its headers say", async () => {
  const gateway = limitedGateway(keys({ ada: { tokens_per_minute: 20 } }));
  const names = ["x-ratelimit-limit-tokens", "x-ratelimit-remaining-tokens", "retry-after"];
  assertEquals(figures((await ask(gateway)).headers, ...names), ["20", "20", null]);
  assertEquals(figures((await ask(gateway)).headers, ...names), ["20", "6", null]);
  const refused = await ask(gateway);
  assertEquals(verdictOf(refused), [429, "rate_limit_error", "rate_limit_exceeded"]);
  assertMatch(String(refused.error.message), /^Too many tokens; try again in 27 s\.$/);
  // 8 tokens are owed, and one must be there: 9 of 20 in a minute.
  assertEquals(figures(refused.headers, ...names), ["20", "0", "27"]);
  assertEquals(refused.headers.get("x-should-retry"), null);
  await gateway.world.advance(27_000);
  assertEquals((await ask(gateway)).status, 200);
});

Deno.test("a key over a budget is refused until its window ends, and official SDKs do not repeat the call", async () => {
  const gateway = limitedGateway(keys({
    ada: {
      max_concurrent: 5,
      budgets: [{ per: "day", usd: 0.000024 }, { per: "month", tokens: 500, usd: 5 }],
    },
  }));
  const first = await ask(gateway);
  assertEquals(
    first.headers.get("x-gateway-budget"),
    "day usd 0/0.000024, month usd 0/5, month tokens 0/500",
  );
  const refused = await ask(gateway);
  assertEquals(verdictOf(refused), [429, "insufficient_quota", "budget_exceeded"]);
  assertEquals(
    refused.error.message,
    `The budget of this client key of 0.000024 USD per day is used up; its window ends at ${DAY_END}.`,
  );
  assertEquals(
    figures(refused.headers, "x-should-retry", "retry-after", "x-gateway-budget"),
    ["false", "6400", "day usd 0.000024/0.000024, month usd 0/5, month tokens 14/500"],
  );
  await gateway.world.advance(6_400_000);
  assertEquals((await ask(gateway)).status, 200);
});

Deno.test("the limits of a group hold for its keys together, and a refusal names the group", async () => {
  const gateway = limitedGateway(
    keys({ ada: { tokens_per_minute: 1000 }, bob: {}, eve: {} }, {
      groups: [{
        name: "apps, all",
        keys: ["ada", "bob"],
        tokens_per_minute: 50,
        budgets: [{ per: "hour", tokens: 28 }],
      }],
    }),
  );
  assertEquals((await ask(gateway, "ada")).status, 200);
  const second = await ask(gateway, "bob");
  assertEquals(
    figures(second.headers, "x-gateway-budget", "x-ratelimit-remaining-tokens"),
    ["group apps%2C%20all hour tokens 14/28", "36"],
  );
  const refused = await ask(gateway, "ada");
  assertEquals(verdictOf(refused), [429, "insufficient_quota", "budget_exceeded"]);
  assertMatch(String(refused.error.message), /^The budget of the group 'apps, all' of 28 tokens/);
  assertEquals(figures(refused.headers, "x-ratelimit-limit-tokens"), ["50"]);
  assertEquals((await ask(gateway, "eve")).status, 200);
});

Deno.test("a group out of tokens refuses its keys with its name", async () => {
  const groups = [{ name: "apps", keys: ["ada", "bob"], tokens_per_minute: 14 }];
  const gateway = limitedGateway(keys({ ada: {}, bob: {} }, { groups }));
  assertEquals((await ask(gateway, "ada")).status, 200);
  const refused = await ask(gateway, "bob");
  assertEquals(verdictOf(refused), [429, "rate_limit_error", "rate_limit_exceeded"]);
  assertEquals(
    refused.error.message,
    "Too many tokens of the group 'apps'; try again in 5 s.",
  );
});

Deno.test("what is refused takes nothing: each limit is checked in the order budgets, tokens, calls, requests", async () => {
  const more = "rate_limiting: {enabled: true, requests_per_minute: 60, burst_size: 1}\n";
  const limits = { tokens_per_minute: 14, budgets: [{ per: "hour", tokens: 14 }] };
  const gateway = limitedGateway(keys({ ada: limits }), { more });
  const codes = async () => verdictOf(await ask(gateway))[2] ?? 200;
  assertEquals(await codes(), 200);
  assertEquals(await codes(), "budget_exceeded");
  gateway.reload(keys({ ada: { ...limits, budgets: [] } }));
  const refused = await ask(gateway);
  assertMatch(String(refused.error.message), /tokens/);
  gateway.reload(keys({ ada: {} }));
  assertEquals(await codes(), "rate_limit_exceeded");
  // The refusals before have taken no request: a second brings the next one.
  await gateway.world.advance(1_000);
  assertEquals(await codes(), 200);
});

Deno.test("other limits count for what was used before, and a renamed key begins with nothing used", async () => {
  const gateway = limitedGateway(keys({ ada: { budgets: [{ per: "day", tokens: 100 }] } }));
  assertEquals((await ask(gateway)).status, 200);
  gateway.reload(keys({ ada: { budgets: [{ per: "day", tokens: 14 }] } }));
  assertEquals((await ask(gateway)).status, 429);
  gateway.reload(keys({ ada: { budgets: [{ per: "day", tokens: 15 }] } }));
  assertEquals((await ask(gateway)).headers.get("x-gateway-budget"), "day tokens 14/15");
  gateway.reload(keys({ bob: { budgets: [{ per: "day", tokens: 15 }] } }));
  assertEquals((await ask(gateway, "bob")).headers.get("x-gateway-budget"), "day tokens 0/15");
});

Deno.test("the Messages API gets refusals by limits in its own envelope, with the same headers", async () => {
  const gateway = limitedGateway(keys({ ada: { budgets: [{ per: "day", tokens: 1 }] } }));
  await ask(gateway);
  const request = new Request("http://localhost/v1/messages", {
    method: "POST",
    headers: { host: "localhost", ...keyOf("ada") },
    body: JSON.stringify({
      model: "m",
      max_tokens: 9,
      messages: [{ role: "user", content: "Hi" }],
    }),
  });
  const response = await gateway.app(request);
  const { type, error } = await response.json();
  assertEquals([response.status, type, error.type, error.details], [
    429,
    "error",
    "billing_error",
    { error_code: "budget_exceeded" },
  ]);
  assertEquals(figures(response.headers, "x-should-retry", "retry-after"), ["false", "6400"]);
});

Deno.test("refusals by limits are counted by their reason, and the use of a key by its name", async () => {
  const gateway = limitedGateway(keys({ ada: { budgets: [{ per: "day", tokens: 1 }] } }));
  await ask(gateway);
  await ask(gateway);
  const text = await gateway.gateway.metrics.scrape();
  for (
    const line of [
      'gateway_rate_limited_total{reason="requests"} 0',
      'gateway_rate_limited_total{reason="tokens"} 0',
      'gateway_rate_limited_total{reason="concurrency"} 0',
      'gateway_rate_limited_total{reason="budget"} 1',
      `gateway_client_tokens_total{client="ada"} ${USAGE.total_tokens}`,
      'gateway_client_spend_usd_total{client="ada"} 0.000024',
    ]
  ) assertEquals(text.includes(`${line}\n`), true, line);
});

Deno.test("browsers may read the headers of limits", async () => {
  const gateway = limitedGateway(
    keys({ ada: {} }) + "server: {allowed_origins: ['https://app.example']}\n",
  );
  const headers = { ...keyOf("ada"), origin: "https://app.example" };
  const { headers: sent } = await got(await gateway.app(chatRequest({ headers })));
  const exposed = sent.get("access-control-expose-headers")?.split(", ") ?? [];
  for (
    const name of [
      "x-ratelimit-limit-tokens",
      "x-ratelimit-remaining-tokens",
      "x-gateway-budget",
      "x-should-retry",
      "retry-after",
    ]
  ) assertEquals(exposed.includes(name), true, name);
});
