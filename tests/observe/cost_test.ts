import { costAt, costOf } from "../../src/observe/cost.ts";
import { listPrice } from "../../src/data/prices.ts";
import { assertEquals } from "../support/assert.ts";
import { USAGE } from "./reports.ts";

Deno.test("cached input and cache writes are part of the input and have prices of their own", () => {
  const price = { input: 10, output: 100, cached_input: 1, cache_write: 20 };
  // 500 plain, 300 read, 200 written, 50 out.
  assertEquals(costAt(price, USAGE), (500 * 10 + 300 * 1 + 200 * 20 + 50 * 100) / 1e6);
});

Deno.test("without prices of their own cache figures cost what other input costs", () => {
  assertEquals(costAt({ input: 10, output: 100 }, USAGE), (1_000 * 10 + 50 * 100) / 1e6);
});

Deno.test("cache figures beyond the input never make a cost smaller", () => {
  const usage = { ...USAGE, input: 100 };
  const price = { input: 10, output: 100, cached_input: 1, cache_write: 20 };
  assertEquals(costAt(price, usage), (300 * 1 + 200 * 20 + 50 * 100) / 1e6);
});

Deno.test("an unknown model has no cost, which is not a cost of zero", () => {
  assertEquals(costOf(USAGE, {}, "openai", "nobody-knows"), null);
  assertEquals(costOf(USAGE, {}, "mine", "gpt-4o"), null);
  assertEquals(costOf(USAGE, {}, "constructor", "name"), null);
  assertEquals(costOf(USAGE, { "up/m": { input: 0, output: 0 } }, "up", "m"), 0);
});

Deno.test("a price in the file wins over the built-in one and names models with slashes", () => {
  const pricing = {
    "openai/gpt-4o": { input: 1, output: 0 },
    "up/org/model": { input: 2, output: 0 },
  };
  assertEquals(costOf(USAGE, pricing, "openai", "gpt-4o"), 0.001);
  assertEquals(costOf(USAGE, pricing, "up", "org/model"), 0.002);
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
