import { BUSY, EMPTY } from "../../support/admin_snapshots.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest, type TestPage } from "../../support/browser.ts";
import { serveScripted } from "../../support/scripted_admin.ts";
import { setHidden } from "./hidden_page.ts";
import { drawnTest, IS_DRAWN } from "./drawn_page.ts";

drawnTest(
  "a hidden page closes its stream of snapshots and draws nothing; shown again it connects and draws the newest",
  BUSY,
  async (shown, admin) => {
    assertEquals(admin.open, 1);
    await setHidden(shown, true);
    await shown.value(`(() => {
      globalThis.changes = 0;
      new MutationObserver(() => globalThis.changes++).observe(
        document.getElementById("page"), { subtree: true, childList: true, characterData: true });
    })()`);
    // A request over another connection is answered after the server has noticed the end of the
    // stream.
    for (let asked = 0; admin.open > 0; asked++) {
      assert(asked < 1000, "the stream of a hidden page is open");
      await (await fetch(new URL("/snapshot", admin.url))).body?.cancel();
    }
    for (let at = 1; at <= 20; at++) admin.send({ ...BUSY, seconds: [], generation: 100 + at });
    assertEquals([await shown.value("globalThis.changes"), admin.opened], [0, 1]);
    await setHidden(shown, false);
    await shown.until(`document.querySelector("#facts").innerText.includes("generation 120")`);
    assertEquals([admin.open, admin.opened], [1, 2]);
    assertMatch(await shown.text("[role=status]"), /^\s*live\s*$/);
  },
);

browserTest(
  "seven tabs of one browser all load, and the form explains a request while the others are open",
  async (browser) => {
    const explain = { lines: ["Route main"], isServed: true };
    await using admin = serveScripted(EMPTY, { explain });
    // A page without snapshots would end its stream by itself.
    const sending = setInterval(() => admin.send(EMPTY), 100);
    using stack = new DisposableStack();
    stack.defer(() => clearInterval(sending));
    const tabs: TestPage[] = [];
    for (let tab = 0; tab < 7; tab++) {
      // A person sees one tab: opening another one hides those before it.
      for (const before of tabs.slice(-1)) await setHidden(before, true);
      const shown = await browser.open(admin.url);
      await shown.until(IS_DRAWN);
      tabs.push(shown);
    }
    const [first, last] = [tabs[0], tabs.at(-1)];
    assert(first !== undefined && last !== undefined);
    for (const [from, to] of [[last, last], [last, first]] as const) {
      if (from !== to) await setHidden(from, true);
      await setHidden(to, false);
      await to.page.type("#explain [name=model]", "gpt-4o");
      await to.page.click("#explain button");
      await to.until(`document.querySelector("#explain pre")?.innerText === "Route main"`);
    }
    assertEquals(admin.explained.length, 2);
    for (const tab of tabs) assertNoErrors(tab);
  },
);

browserTest(
  "a page that is opened hidden connects when it is shown",
  async (browser) => {
    await using admin = serveScripted(BUSY);
    const shown = await browser.open("about:blank");
    await shown.page.evaluateOnNewDocument(
      `Object.defineProperty(Document.prototype, "hidden", { value: true, configurable: true })`,
    );
    await shown.page.goto(admin.url, { waitUntil: "load" });
    assertEquals([admin.opened, await shown.value("document.hidden")], [0, true]);
    await setHidden(shown, false);
    await shown.until(IS_DRAWN);
    assertEquals(admin.opened, 1);
    assertNoErrors(shown);
  },
);
