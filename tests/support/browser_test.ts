import { browserTest, missingBrowser } from "./browser.ts";
import { assertEquals } from "./assert.ts";

Deno.test("a machine without the browser from npm names the reason, and how to name another one", () => {
  assertEquals(missingBrowser({ os: "linux", arch: "x86_64" }, undefined), null);
  assertEquals(missingBrowser({ os: "darwin", arch: "aarch64" }, "/usr/bin/chromium"), null);
  assertEquals(
    missingBrowser({ os: "darwin", arch: "aarch64" }, undefined),
    "there is no browser from npm for darwin aarch64; name one with CHROMIUM=/path/to/chromium",
  );
});

browserTest(
  "a condition is found true when only a text is written in place, the focus moves or a field changes",
  async (browser) => {
    const shown = await browser.open("data:text/html,<p>before</p><input>");
    const { page } = shown;
    const later = (act: string) => page.evaluate(`void setTimeout(() => { ${act} }, 100)`);
    await later(`document.querySelector("p").firstChild.data = "after"`);
    await shown.until(`document.querySelector("p").innerText === "after"`);
    await later(`document.querySelector("input").focus()`);
    await shown.until(`document.activeElement === document.querySelector("input")`);
    await later(`document.querySelector("input").value = "typed"`);
    await shown.until(`document.querySelector("input").value === "typed"`);
    assertEquals(shown.errors, []);
  },
);
