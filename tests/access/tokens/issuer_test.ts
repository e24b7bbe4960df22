import { isName } from "../../../src/access/tokens/issuer.ts";
import { assertEquals } from "../../support/assert.ts";

Deno.test("a name of a client has no half of a character, which would be another one in a store", () => {
  const names = ["ada", "\u{1f600}", "\ud83d", "a\udc00b"];
  assertEquals(names.map(isName), [true, true, false, false]);
});
