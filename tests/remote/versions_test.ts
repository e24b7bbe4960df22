import { assertEquals } from "../support/assert.ts";
import { isNewer } from "../../src/remote/release_check.ts";

// The order of Semantic Versioning 2.0, section 11, and versions that differ in one number each.
const ASCENDING = [
  "0.1.0-alpha",
  "0.1.0",
  "0.1.1",
  "0.2.0",
  "0.10.0",
  "1.0.0-alpha",
  "1.0.0-alpha.1",
  "1.0.0-alpha.beta",
  "1.0.0-beta",
  "1.0.0-beta.2",
  "1.0.0-beta.11",
  "1.0.0-rc.1",
  "1.0.0",
  "2.0.0",
];

Deno.test("versions are ordered as Semantic Versioning orders them", () => {
  for (const [at, one] of ASCENDING.entries()) {
    for (const [against, other] of ASCENDING.entries()) {
      assertEquals(isNewer(one, other), at > against, `${one} after ${other}`);
    }
  }
});

Deno.test("builds of one version are the same, and a v in front means nothing", () => {
  assertEquals(isNewer("1.0.0+2", "1.0.0+1"), false);
  assertEquals(isNewer("v1.0.1", "1.0.0"), true);
});

Deno.test("an invalid version is never newer", () => {
  const texts = ["", "latest", "2", "2.0", "2.0.0.0", "2.0.x", " 2.0.0", "2.0.0\nerror", "2.0.0-"];
  for (const text of [...texts, `2.0.0-${"a".repeat(200)}`, "9999999999.0.0"]) {
    assertEquals(isNewer(text, "0.1.0"), false, text);
  }
});
