import { newProviders } from "../../src/import/providers.ts";
import { assert, assertEquals } from "../support/assert.ts";

/** A set that counts its look-ups. */
class CountingSet extends Set<string> {
  lookups = 0;

  override has(value: string): boolean {
    this.lookups += 1;
    return super.has(value);
  }
}

Deno.test("each of many providers with one name is named at once, after those before it", () => {
  const reserved = new CountingSet(["openai-3", "models"]);
  const providers = newProviders(reserved);
  const ids = Array.from(
    { length: 2_000 },
    (_, at) => providers.add("openai", { base_url: `https://h${at}.example.com/v1` }, `m[${at}]`),
  );
  assertEquals(ids.slice(0, 4), ["openai", "openai-2", "openai-4", "openai-5"]);
  assertEquals(ids.at(-1), "openai-2001");
  assertEquals(new Set(ids).size, ids.length);
  assertEquals(providers.add("models", { base_url: "https://a.example.com" }, "x"), "models-api");
  assertEquals(providers.add("models", { base_url: "https://b.example.com" }, "y"), "models-api-2");
  assert(reserved.lookups < 3 * ids.length, `${reserved.lookups}`);
});
