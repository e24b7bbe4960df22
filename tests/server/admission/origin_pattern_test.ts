import fc from "fast-check";
import { parseOriginPattern } from "../../../src/server/admission/browser_guard.ts";
import { assertEquals } from "../../support/assert.ts";

function isMeant(allowed: string, origin: string): boolean {
  return parseOriginPattern(allowed)(origin);
}

Deno.test("an origin pattern matches the same origins as the equivalent regular expression", () => {
  const piece = fc.constantFrom("a", "b", ".", "*", "-", "ab", "a.b");
  // A dot at the end of a name is the root of DNS, which a pattern leaves out.
  const name = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""))
    .filter((joined) => !joined.endsWith("."));
  const port = fc.constantFrom("", ":*", ":80", ":8080");
  const host = fc.array(fc.constantFrom("a", "b", ".", "-", ":"), { maxLength: 12 })
    .map((pieces) => pieces.join(""));
  const written = fc.tuple(name, port, host, fc.constantFrom("", ":80", ":8080"));
  fc.assert(
    fc.property(written, ([stem, anyPort, given, givenPort]) => {
      const parts = `x://${stem}`.split("*").map((part) => RegExp.escape(part));
      const ending = anyPort === ":*" ? "(?::\\d+)?" : anyPort;
      const expected = new RegExp(`^${parts.join("[a-z0-9_.-]+")}${ending}$`);
      const origin = `x://${given}${givenPort}`;
      assertEquals(isMeant(`x://${stem}${anyPort}`, origin), expected.test(origin));
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("a pattern of many stars is compared with the longest origin at once", () => {
  const pattern = `https://${"*.".repeat(20)}example.com`;
  assertEquals(isMeant(pattern, `https://${"a.".repeat(120)}example.net`), false);
  assertEquals(isMeant(pattern, `https://${"a.".repeat(120)}example.com`), true);
});
