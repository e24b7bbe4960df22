import { type CacheBlock, newPromptCache } from "../../src/simulator/prompt_cache.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

const TTL_MS = 300_000;

/** A block of this many tokens for each letter; a `!` behind it writes the prefix. */
function blocksOf(text: string, tokens = 1_000): readonly CacheBlock[] {
  return (text.match(/\w!?/g) ?? []).map((one) => ({
    text: one.slice(0, 1),
    tokens,
    isWritten: one.endsWith("!"),
  }));
}

function testedCache() {
  const world = scriptedWorld();
  const cache = newPromptCache(world);
  return {
    world,
    use(text: string, tokens?: number) {
      const blocks = blocksOf(text, tokens);
      const { read, write } = cache.use(
        blocks,
        blocks.reduce((sum, { tokens }) => sum + tokens, 0),
      );
      return [read, write];
    },
  };
}

Deno.test("a prefix that was written is read, and only what is new is written", () => {
  const { use } = testedCache();
  assertEquals(use("ab!"), [0, 2_000]);
  assertEquals(use("abc!"), [2_000, 1_000]);
  assertEquals(use("abc!"), [3_000, 0]);
  assertEquals(use("xbc!"), [0, 3_000]);
  assertEquals(use("abcd"), [0, 0], "without a breakpoint nothing is read");
});

Deno.test("a prefix below 1,024 tokens is not cached", () => {
  const { use } = testedCache();
  assertEquals([use("a!"), use("a!")], [[0, 0], [0, 0]]);
  assertEquals([use("ab!", 512), use("ab!", 512)], [[0, 1_024], [1_024, 0]]);
});

Deno.test("a prefix is forgotten five minutes after its last use", async () => {
  const { use, world } = testedCache();
  use("ab!");
  await world.advance(TTL_MS);
  assertEquals(use("ab!"), [2_000, 0]);
  await world.advance(TTL_MS);
  assertEquals(use("ab!"), [2_000, 0]);
  await world.advance(TTL_MS + 1_000);
  assertEquals(use("ab!"), [0, 2_000]);
});

Deno.test("a written prefix is found at most 20 blocks before a breakpoint", () => {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  for (const [more, read] of [[20, 2_000], [21, 0]] as const) {
    const { use } = testedCache();
    use("ab!");
    assertEquals(use(`ab${letters.slice(2, 2 + more)}!`)[0], read);
  }
});
