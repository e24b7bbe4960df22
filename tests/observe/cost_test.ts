import { billedOutput, computeCost, costAt } from "../../src/observe/cost.ts";
import { listPrice } from "../../src/data/prices.ts";
import { assertEquals } from "../support/assert.ts";
import { configOf } from "../config/parse.ts";
import { USAGE } from "./reports.ts";

const USED = { usage: USAGE, units: null };

/** The prices of a configuration with one provider. */
function pricingOf(
  pricing: Readonly<Record<string, unknown>>,
  providers = 'up: {type: compat, base_url: "http://up", api_key: k}',
) {
  const id = providers.slice(0, providers.indexOf(":"));
  const routes = `routing: {routes: [{name: main, targets: [{provider: ${id}}]}]}`;
  return configOf(`providers: {${providers}}\n${routes}\npricing: ${JSON.stringify(pricing)}\n`);
}

Deno.test("cached input and cache writes are part of the input and have their own prices", () => {
  const price = { input: 10, output: 100, cached_input: 1, cache_write: 20 };
  // 500 plain, 300 read, 200 written, 50 out.
  assertEquals(costAt(price, USAGE), (500 * 10 + 300 * 1 + 200 * 20 + 50 * 100) / 1e6);
});

Deno.test("cached tokens without their own price have the price of input tokens", () => {
  assertEquals(costAt({ input: 10, output: 100 }, USAGE), (1_000 * 10 + 50 * 100) / 1e6);
});

Deno.test("cached tokens beyond the input tokens never lower the cost", () => {
  const usage = { ...USAGE, input: 100, total: 150 };
  const price = { input: 10, output: 100, cached_input: 1, cache_write: 20 };
  assertEquals(costAt(price, usage), (300 * 1 + 200 * 20 + 50 * 100) / 1e6);
});

Deno.test("reasoning that is only in the total costs what output costs, and cached tokens in the total do not", () => {
  const usage = { ...USAGE, cached: 0, cacheWrite: 0 };
  assertEquals(billedOutput({ ...usage, total: 1_350 }), 350);
  assertEquals(billedOutput({ ...usage, total: 1_350, cached: 200 }), 150);
  assertEquals(billedOutput({ ...usage, total: 1_350, cached: 200, reasoning: 300 }), 350);
  assertEquals(billedOutput({ ...usage, total: 1_350, cached: 300 }), 50);
  assertEquals(billedOutput({ ...usage, total: 3 }), 50);
  assertEquals(billedOutput({ ...usage, total: null }), 50);
  assertEquals(billedOutput({ ...usage, total: 1_350, unknown: "input" }), 50);
});

Deno.test("an unknown model has no cost rather than a cost of zero", () => {
  assertEquals(computeCost(USED, pricingOf({}), "openai", "nobody-knows"), null);
  assertEquals(computeCost(USED, pricingOf({}), "mine", "gpt-4o"), null);
  assertEquals(computeCost(USED, pricingOf({}), "constructor", "name"), null);
  assertEquals(computeCost(USED, pricingOf({ "up/m": { input: 0, output: 0 } }), "up", "m"), 0);
});

Deno.test("a price in the file overrides the built-in price, also for models with slashes", () => {
  const pricing = pricingOf({
    "openai/gpt-4o": { input: 1, output: 0 },
    "up/org/model": { input: 2, output: 0 },
  });
  assertEquals(computeCost(USED, pricing, "openai", "gpt-4o"), 0.001);
  assertEquals(computeCost(USED, pricing, "up", "org/model"), 0.002);
});

Deno.test("a pattern prices the models it matches, and the most specific one counts", () => {
  const pricing = pricingOf({
    "up/*": { input: 1, output: 0 },
    "up/large-*": { input: 3, output: 0 },
    "up/large-one": { input: 5, output: 0 },
    "up/*-one": { input: 7, output: 0 },
    "openai/*": { input: 9, output: 0 },
  });
  const cost = (model: string, provider = "up") => computeCost(USED, pricing, provider, model);
  assertEquals(cost("small"), 0.001);
  assertEquals(cost("large-two"), 0.003);
  assertEquals(cost("large-one"), 0.005);
  assertEquals(cost("small-one"), 0.007);
  assertEquals(cost("gpt-4o", "openai"), 0.009);
  assertEquals(cost("large-one", "other"), null);
});

Deno.test("models of a local provider cost nothing unless the file prices them", () => {
  const providers = "mine: {type: local, base_url: http://127.0.0.1:1}";
  const free = pricingOf({}, providers);
  assertEquals(computeCost(USED, free, "mine", "llama"), 0);
  const priced = pricingOf({ "mine/*": { input: 1, output: 0 } }, providers);
  assertEquals(computeCost(USED, priced, "mine", "llama"), 0.001);
});

Deno.test("a dated model has the price of its base model unless it has its own", () => {
  assertEquals(listPrice("openai", "gpt-4o-2024-11-20"), listPrice("openai", "gpt-4o"));
  assertEquals(listPrice("openai", "gpt-4o-2024-05-13")?.input, 5);
  const sonnet = listPrice("anthropic", "claude-sonnet-4-5");
  assertEquals(sonnet?.output, 15);
  assertEquals(listPrice("anthropic", "claude-sonnet-4-5-20250929"), sonnet);
  assertEquals(listPrice("anthropic", "claude-3-5-haiku-latest")?.cache_write, 1);
  assertEquals(listPrice("openai", "gpt-4o-audio-preview"), null);
});
