import { sharedCachePrefix } from "../../src/gateway/shared_cache_names.ts";
import { configOf, withSection } from "../config/parse.ts";
import { assertEquals } from "../support/assert.ts";
import { tokenSecurity } from "../support/token_issuer.ts";

Deno.test("an open gateway, and one whose clients share objects, share no cached response with one that isolates clients by tokens", () => {
  const prefixes = [{}, { isolate_clients: false }, { enabled: false }]
    .map((more) => sharedCachePrefix(configOf(withSection(tokenSecurity({}, more)))));
  assertEquals(new Set(prefixes).size, prefixes.length);
});
