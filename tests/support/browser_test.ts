import { missingBrowser } from "./browser.ts";
import { assertEquals } from "./assert.ts";

Deno.test("a machine without the browser from npm names the reason, and how to name another one", () => {
  assertEquals(missingBrowser({ os: "linux", arch: "x86_64" }, undefined), null);
  assertEquals(missingBrowser({ os: "darwin", arch: "aarch64" }, "/usr/bin/chromium"), null);
  assertEquals(
    missingBrowser({ os: "darwin", arch: "aarch64" }, undefined),
    "there is no browser from npm for darwin aarch64; name one with CHROMIUM=/path/to/chromium",
  );
});
