import { computeCost, costAt } from "../../src/observe/cost.ts";
import { listPrice } from "../../src/data/prices.ts";
import { assertEquals } from "../support/assert.ts";
import { USAGE } from "./reports.ts";

Deno.test("cached input and cache writes are part of the input and have their own prices", () => {
  const price = { input: 10, output: 100, cached_input: 1, cache_write: 20 };
  // 500 plain, 300 read, 200 written, 50 out.
  assertEquals(costAt(price, USAGE), (500 * 10 + 300 * 1 + 200 * 20 + 50 * 100) / 1e6);
});

Deno.test("cached tokens without their own price have the price of input tokens", () => {
  assertEquals(costAt({ input: 10, output: 100 }, USAGE), (1_000 * 10 + 50 * 100) / 1e6);
});

Deno.test("cached tokens beyond the input tokens never lower the cost", () => {
  const usage = { ...USAGE, input: 100 };
  const price = { input: 10, output: 100, cached_input: 1, cache_write: 20 };
  assertEquals(costAt(price, usage), (300 * 1 + 200 * 20 + 50 * 100) / 1e6);
});

Deno.test("an unknown model has no cost rather than a cost of zero", () => {
  assertEquals(computeCost(USAGE, {}, "openai", "nobody-knows"), null);
  assertEquals(computeCost(USAGE, {}, "mine", "gpt-4o"), null);
  assertEquals(computeCost(USAGE, {}, "constructor", "name"), null);
  assertEquals(computeCost(USAGE, { "up/m": { input: 0, output: 0 } }, "up", "m"), 0);
});

Deno.test("a price in the file overrides the built-in price, also for models with slashes", () => {
  const pricing = {
    "openai/gpt-4o": { input: 1, output: 0 },
    "up/org/model": { input: 2, output: 0 },
  };
  assertEquals(computeCost(USAGE, pricing, "openai", "gpt-4o"), 0.001);
  assertEquals(computeCost(USAGE, pricing, "up", "org/model"), 0.002);
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
