import type { Snapshot } from "../../../src/admin/snapshot.ts";
import { AT_MS, BUSY } from "../../support/admin_snapshots.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { assertNoErrors, browserTest } from "../../support/browser.ts";
import { serveScripted } from "../../support/scripted_admin.ts";
import { drawnTest, IS_DRAWN } from "./drawn_page.ts";

/**
 * Collects the places that change: the labels of the head, and the ids of sections with the row.
 */
const WATCH = `(() => {
  globalThis.changed = new Set();
  new MutationObserver((records) => {
    for (const { target } of records) {
      const element = target.nodeType === 1 ? target : target.parentElement;
      const section = element.closest("section")?.id;
      const place = section ?? element.closest("dl > div")?.querySelector("dt")?.innerText;
      const row = element.closest("tr")?.querySelector(".name")?.textContent;
      globalThis.changed.add(row === undefined ? place : place + " " + row);
    }
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
})()`;
/**
 * Collects the texts that are written again, each of which passes the check for hidden characters.
 */
const WATCH_TEXTS = `(() => {
  globalThis.written = new Set();
  const replace = String.prototype.replace;
  String.prototype.replace = function (...how) {
    globalThis.written.add(String(this));
    return replace.apply(this, how);
  };
})()`;
const WRITTEN = "[...globalThis.written]";
/**
 * Numbers of rows of the scripted gateway: attempts of its providers, calls of two targets, a key's
 * calls.
 */
const ROW_NUMBERS = ["5,210", "640", "1,733", "402", "78", "18,204"];
const CHANGED = "[...globalThis.changed].sort()";
const MARK_ROWS = `document.querySelectorAll("tbody tr").forEach((row) => row.marked = true)`;
const UNMARKED = `[...document.querySelectorAll("tbody tr")].filter((row) => !row.marked).length`;

/** The next snapshot of a gateway in which nothing occurred for a second. */
const QUIET: Snapshot = {
  ...BUSY,
  seconds: [],
  finished: [],
  atMs: AT_MS + 1000,
  uptimeMs: 3_600_000,
};

drawnTest(
  "a snapshot in which nothing changed changes nothing in the page but the uptime and the charts",
  BUSY,
  async (shown, admin) => {
    await shown.value(WATCH);
    await shown.value(WATCH_TEXTS);
    await shown.value(MARK_ROWS);
    admin.send(QUIET);
    await shown.until(`document.querySelector("#facts").innerText.includes("1 h 0 min")`);
    const changed = await shown.value<string[]>(CHANGED);
    assertEquals(changed.filter((place) => place !== "charts"), ["Up for"]);
    assertEquals(await shown.value(UNMARKED), 0);
    const written = await shown.value<string[]>(WRITTEN);
    assert(written.includes("1 h 0 min"));
    assertEquals(ROW_NUMBERS.filter((number) => written.includes(number)), []);
  },
);

browserTest(
  "a row whose data changed is drawn again in its place, and no other row is",
  async (browser) => {
    const [provider, ...providers] = BUSY.providers, [key, ...keys] = BUSY.keys;
    const [route, ...routes] = BUSY.routes;
    const [target, ...targets] = route?.targets ?? [];
    assert(provider && key && route && target);
    await using admin = serveScripted(BUSY);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    await shown.value(WATCH);
    await shown.value(WATCH_TEXTS);
    await shown.value(MARK_ROWS);
    admin.send({
      ...QUIET,
      providers: [{ ...provider, attempts: provider.attempts + 1 }, ...providers],
      routes: [
        { ...route, targets: [{ ...target, calls: target.calls + 1 }, ...targets] },
        ...routes,
      ],
      keys: [{ ...key, running: key.running + 1 }, ...keys],
    });
    await shown.until(`document.querySelector("#facts").innerText.includes("1 h 0 min")`);
    const changed = await shown.value<string[]>(CHANGED);
    assertEquals(changed.filter((place) => place !== "charts"), [
      "Up for",
      `keys ${key.name}`,
      `providers ${provider.id}`,
      `routes ${route.name}`,
    ]);
    assertEquals(await shown.value(UNMARKED), 0);
    const written = await shown.value<string[]>(WRITTEN);
    assert(written.includes("5,211"));
    const others = ["640", "1,733"];
    assertEquals(others.filter((number) => written.includes(number)), []);
    assertNoErrors(shown);
  },
);

browserTest("a changed bar is drawn once, not in steps", async (browser) => {
  await using admin = serveScripted(BUSY);
  const shown = await browser.open(admin.url, { reducedMotion: false });
  await shown.until(IS_DRAWN);
  const durations = await shown.value<string[]>(
    `[...new Set([...document.querySelectorAll(".bar .fill")].map((bar) => getComputedStyle(bar).transitionDuration))]`,
  );
  assertEquals(durations, ["0s"]);
});

drawnTest("a chart out of sight is drawn when it is seen again", BUSY, async (shown, admin) => {
  await shown.value(`(() => {
      globalThis.drawn = 0;
      const canvas = CanvasRenderingContext2D.prototype;
      const stroke = canvas.stroke;
      canvas.stroke = function (...path) {
        globalThis.drawn++;
        return stroke.apply(this, path);
      };
    })()`);
  await shown.value(`document.querySelector("#try").scrollIntoView()`);
  await shown.value(`new Promise((resolve) => new IntersectionObserver(([{ isIntersecting }]) => {
      if (!isIntersecting) resolve(true);
    }).observe(document.querySelector("#charts")))`);
  await shown.value(`globalThis.drawn = 0`);
  admin.send(QUIET);
  await shown.until(`document.querySelector("#facts").innerText.includes("1 h 0 min")`);
  await shown.value(`new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))`);
  assertEquals(await shown.value("globalThis.drawn"), 0);
  assertEquals(await shown.value(`globalThis.find("1,204")`), true);
  await shown.value(`document.querySelector("#charts").scrollIntoView()`);
  await shown.value(`new Promise((resolve) => {
      const look = () => globalThis.drawn > 0 ? resolve(true) : requestAnimationFrame(look);
      look();
    })`);
});
