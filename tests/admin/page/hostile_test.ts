import type { Snapshot } from "../../../src/admin/snapshot.ts";
import { BUSY, busySeconds, finishedCall } from "../../support/admin_snapshots.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { assertNoErrors, browserTest } from "../../support/browser.ts";
import { serveScripted } from "../../support/scripted_admin.ts";
import { leaveList } from "./finished_list.ts";
import { IS_DRAWN } from "./drawn_page.ts";

const INJECTIONS = [
  `<img src=x onerror="globalThis.hit=1">`,
  `</script><script>globalThis.hit=1</script>`,
  `"><svg onload=globalThis.hit=1>`,
  `'onmouseover='globalThis.hit=1`,
  "javascript:globalThis.hit=1",
  "${globalThis.hit=1}`",
  "a\u202egnp.exe\u2066\u0000\u001b[31m",
  "x".repeat(300),
];

/** Replaces each text of a value that a client, a provider or the file can choose. */
function infected(snapshot: Snapshot, text: string): Snapshot {
  const fixed = new Set(["breaker", "phase", "gatewayUrl", "request_id", "outcome", "method"]);
  const changed = JSON.stringify(
    snapshot,
    (key, value) => typeof value === "string" && !fixed.has(key) ? `${text}${value}` : value,
  );
  return JSON.parse(changed);
}

browserTest(
  "texts of clients, providers and the file never become markup or script",
  async (browser) => {
    const broken: Snapshot = {
      ...BUSY,
      refusedReload: { atMs: BUSY.atMs, lines: ["providers.x: is wrong (line 2, column 3)"] },
    };
    await using admin = serveScripted(infected(broken, INJECTIONS[0] ?? ""), {
      explain: { lines: INJECTIONS, isServed: false },
    });
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    const shape = "document.querySelectorAll('#page *').length";
    await shown.page.click('[aria-label^="Timeline of call 7582"]');
    await shown.until(`document.querySelector("#timeline") !== null`);
    const elements = await shown.value(shape);
    for (const [at, text] of INJECTIONS.entries()) {
      const changed = infected(broken, text);
      await leaveList(shown);
      const finished = changed.finished.map((call) => ({
        ...call,
        number: 10_000 + at * 100 - call.number % 100,
      }));
      admin.send({ ...changed, generation: 100 + at, finished });
      await shown.until(
        `document.querySelector("#facts").innerText.includes("generation ${100 + at}")`,
      );
      // The newest call of the list is selected, so that the timeline has the text as well.
      await shown.page.click("#calls button.link");
      await shown.until(`document.activeElement.id === "timeline-title"`);
    }
    await shown.page.type("#explain [name=model]", INJECTIONS[1] ?? "");
    await shown.page.click("#explain button");
    await shown.until(`document.querySelector("#explain pre") !== null`);
    assertEquals(await shown.value("document.querySelector('#explain pre').children.length"), 0);
    assert(Number(elements) > 300);
    assertEquals(
      await shown.value(`document.querySelectorAll("img, #page script, iframe").length`),
      0,
    );
    assertEquals(await shown.value(`"hit" in globalThis`), false);
    const text = await shown.value<string>("document.querySelector('#explain pre').textContent");
    assert(text.includes("a\\u202egnp.exe\\u2066\\u0000\\u001b[31m"), text);
    const hidden =
      "/[\\u0000-\\u0008\\u202a-\\u202e\\u2066-\\u2069]/.test(document.body.innerText)";
    assertEquals(
      await shown.value(hidden),
      false,
      "no character changes the direction of the page",
    );
    assertNoErrors(shown);
  },
);

browserTest(
  "the content policy blocks scripts, styles and requests that are not of the page",
  async (browser) => {
    await using admin = serveScripted(BUSY);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    const blocked = await shown.value<string[]>(`(async () => {
    const found = [];
    const all = new Promise((resolve) =>
      document.addEventListener("securitypolicyviolation", (event) => {
        if (found.push(event.effectiveDirective) === 4) resolve();
      })
    );
    const script = document.createElement("script");
    script.textContent = "globalThis.hit = 1";
    document.head.append(script);
    const box = document.createElement("p");
    box.setAttribute("style", "color: red");
    await fetch("https://example.com/").catch(() => {});
    await fetch("http://127.0.0.1:1/").catch(() => {});
    await all;
    return found;
  })()`);
    assertEquals(blocked.toSorted(), [
      "connect-src",
      "connect-src",
      "script-src-elem",
      "style-src-attr",
    ]);
    assertEquals(await shown.value(`"hit" in globalThis`), false);
  },
);

browserTest(
  "10,000 calls leave no more memory and elements in the page than 1,000",
  async (browser) => {
    await using admin = serveScripted({ ...BUSY, finished: [] });
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    const cdp = await shown.page.createCDPSession();
    let sent = 0;

    async function serveCalls(count: number) {
      for (; sent < count; sent += 500) {
        const atMs = BUSY.atMs + sent * 4;
        admin.send({
          ...BUSY,
          atMs,
          seconds: busySeconds(atMs).slice(-1),
          finishedCount: sent + 500,
          finished: Array.from({ length: 100 }, (_, at) => finishedCall(sent + 500 - at)),
          running: BUSY.running.map((call) => ({ ...call, id: `${call.id} ${sent}` })),
        });
        const isShown = `document.querySelector('[aria-label^="Timeline of call ${sent + 500},"]')`;
        await shown.until(`${isShown} !== null`);
      }
    }

    async function measure() {
      await cdp.send("HeapProfiler.collectGarbage");
      const { usedSize } = await cdp.send("Runtime.getHeapUsage");
      const { nodes } = await cdp.send("Memory.getDOMCounters");
      return { usedSize, nodes };
    }

    await serveCalls(1000);
    const early = await measure();
    await serveCalls(10_000);
    const late = await measure();
    const grown = late.usedSize - early.usedSize;
    assert(grown < 500_000, `the heap has grown by ${grown} bytes from ${early.usedSize}`);
    assert(late.nodes <= early.nodes * 1.05, `nodes: ${early.nodes}, then ${late.nodes}`);
    assertEquals(await shown.value(`document.querySelectorAll("#calls button.link").length`), 100);
    assertNoErrors(shown);
  },
);
