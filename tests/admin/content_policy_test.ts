import { contentPolicy } from "../../src/admin/content_policy.ts";
import { assertStringIncludes } from "../support/assert.ts";

Deno.test("the content policy names no IPv6 address, for which a source has no form", () => {
  const gateway = { url: "http://[::1]:8080", names: [] };
  assertStringIncludes(
    contentPolicy("", "[::1]:8081", gateway),
    "connect-src 'self' http://127.0.0.1:8080 http://localhost:8080;",
  );
});
