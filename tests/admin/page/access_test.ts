import axe from "axe-core";
import type { Snapshot } from "../../../src/admin/snapshot.ts";
import { BUSY } from "../../support/admin_snapshots.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest, type TestPage } from "../../support/browser.ts";
import { serveScripted } from "../../support/scripted_admin.ts";
import { drawnTest, IS_DRAWN } from "./drawn_page.ts";

/** Height of two values with a bar and a line of text each, of which one may take a second line. */
const MAX_ROW_PIXELS = 140;

/** One call of each kind: more rows of the same kinds are no other elements to axe. */
const KINDS: Snapshot = { ...BUSY, finished: BUSY.finished.slice(0, 8) };

const TROUBLED: Snapshot = {
  ...KINDS,
  isDraining: true,
  refusedReload: { atMs: BUSY.atMs, lines: ["server.prot: is not a known key (line 2, column 3)"] },
};

/** True in the page when a timeline and the table of a chart are open. */
const IS_OPENED = `document.querySelectorAll("#timeline, .chart table").length === 2`;

async function openParts(shown: TestPage): Promise<void> {
  await shown.until(IS_DRAWN);
  await shown.page.click('[aria-label^="Timeline of call 7582"]');
  await shown.page.click(".chart summary");
  await shown.until(IS_OPENED);
}

/** Background colours of the page. */
const LIGHT = "rgb(246, 247, 249)", DARK = "rgb(18, 22, 28)";

/**
 * Checks that axe finds nothing wrong with a part of a page in light colours, and with its colours
 * in dark ones once it is drawn again. `ready` is true in the page when it shows what is checked.
 */
async function checkBothSchemes(
  shown: TestPage,
  ready: string,
  parts: readonly string[] = ["html"],
): Promise<void> {
  await shown.until(ready);
  assertEquals(await shown.value(BACKGROUND), LIGHT);
  assertEquals(await violationsOf(shown, parts), [], "light");
  await shown.value(`document.querySelector("canvas").id = "light"`);
  await useScheme(shown, "dark");
  await shown.until(`document.getElementById("light") === null && ${IS_DRAWN} && ${ready}`);
  assertEquals(await shown.value(BACKGROUND), DARK);
  assertEquals(await violationsOf(shown, parts, COLOUR_RULES), [], "dark");
}

async function useScheme({ page }: TestPage, value: "light" | "dark"): Promise<void> {
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
}

const BACKGROUND = "getComputedStyle(document.body).backgroundColor";

/** The rules of axe that a change of colours alone can break. */
const COLOUR_RULES: readonly string[] = ["color-contrast", "link-in-text-block"];

/**
 * The rules of axe that a width can break. Only the list of calls has other elements on a phone.
 */
const WIDTH_RULES: readonly string[] = ["scrollable-region-focusable", "target-size"];

/** Returns what axe finds wrong with parts of the page as they are, by these rules or by all. */
async function violationsOf(
  shown: TestPage,
  parts: readonly string[],
  rules?: readonly string[],
): Promise<string[]> {
  if (await shown.value("!globalThis.axe")) await shown.page.evaluate(axe.source);
  const options = JSON.stringify({ resultTypes: ["violations"], runOnly: rules });
  return await shown.value<string[]>(
    `axe.run({ include: ${JSON.stringify(parts)} }, ${options}).then(
    ({ violations }) => violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => id + ": " + html + " " + failureSummary)))`,
  );
}

browserTest(
  "axe finds no violation in the admin page in light and dark colours",
  async (browser) => {
    await using admin = serveScripted(TROUBLED);
    const shown = await browser.open(admin.url);
    await openParts(shown);
    await checkBothSchemes(shown, IS_OPENED);
    assertNoErrors(shown);
  },
);

const ANSWERS = {
  served: () =>
    new Response('data: {"choices":[{"delta":{"content":"Hello."}}]}\n\ndata: [DONE]\n\n', {
      headers: { "content-type": "text/event-stream", ...EXPOSED },
    }),
  refused: () =>
    Response.json({ error: { message: "The model does not exist.", code: "model_not_found" } }, {
      status: 404,
      headers: EXPOSED,
    }),
};

const EXPOSED = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "*",
  "x-gateway-provider": "compat",
};

browserTest(
  "axe finds no violation in the explanations and the responses of Try it to served and refused requests in light and dark colours",
  async (browser) => {
    let kind: "served" | "refused" = "served";
    await using gateway = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      ({ method }) =>
        method === "OPTIONS"
          ? new Response(null, { headers: { ...EXPOSED, "access-control-allow-headers": "*" } })
          : ANSWERS[kind](),
    );
    const gatewayUrl = `http://127.0.0.1:${gateway.addr.port}`;
    const explain = { lines: ["Request: /v1/chat/completions"], isServed: true };
    const snapshot = { ...KINDS, gatewayUrl, requiresKey: false };
    await using admin = serveScripted(snapshot, { explain });
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    await shown.page.type("#explain [name=model]", "gpt-4o");
    for (kind of ["served", "refused"] as const) {
      explain.lines = [`Route main: ${kind}`];
      explain.isServed = kind === "served";
      const [tone, status, end] = kind === "served"
        ? ["good", "200", "Complete"]
        : ["bad", "404", "Failed"];
      await shown.page.click("#explain button");
      await shown.page.click("#try button[type=submit]");
      const ready =
        `/Route main: ${kind}/.test(document.querySelector("#explain pre.${tone}")?.innerText) &&
        /status ${status}[^]*${end}/.test(document.querySelector("#try .answer")?.innerText)`;
      await useScheme(shown, "light");
      await checkBothSchemes(shown, ready, ["#explain", "#try"]);
    }
  },
);

// Nothing of the page but its head says that the connection is lost.
browserTest(
  "axe finds no violation in the head of a page with a lost connection in light and dark colours",
  async (browser) => {
    const admin = serveScripted(TROUBLED);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    await admin.close();
    const isLost = `document.querySelector("[role=status]").innerText.includes("connection lost")`;
    await checkBothSchemes(shown, isLost, ["header"]);
  },
);

drawnTest(
  "charts are drawn again in the colours of a changed system setting",
  BUSY,
  async (shown) => {
    await shown.value(`document.querySelector("canvas").id = "light"`);
    await shown.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await shown.until(`document.getElementById("light") === null && ${IS_DRAWN}`);
  },
  { scheme: "light" },
);

browserTest(
  "the admin page fits a screen of 360 pixels, and only tables scroll sideways",
  async (browser) => {
    await using admin = serveScripted(TROUBLED);
    const shown = await browser.open(admin.url, { width: 360, height: 740 });
    await openParts(shown);
    assertEquals(await violationsOf(shown, ["#calls"]), []);
    assertEquals(await violationsOf(shown, ["html"], WIDTH_RULES), []);
    assertEquals(await shown.value("document.documentElement.scrollWidth"), 360);
    const outside = await shown.value<string[]>(
      `[...document.querySelectorAll("main *, header *")].filter((one) =>
      !one.closest(".scroll, svg, pre, .hidden, nav ul") && one.getBoundingClientRect().right > 361
    ).map((one) => one.outerHTML.slice(0, 80))`,
    );
    assertEquals(outside, []);
  },
);

browserTest(
  "a row of the admin page is not higher than its lines on a screen of 360 pixels",
  async (browser) => {
    await using admin = serveScripted(BUSY);
    const shown = await browser.open(admin.url, { width: 360, height: 740 });
    await shown.until(IS_DRAWN);
    for (const section of ["providers", "keys"]) {
      const heights = await shown.value<number[]>(
        `[...document.querySelectorAll("#${section} tbody tr")].map((row) => row.offsetHeight)`,
      );
      assert(Math.max(...heights) < MAX_ROW_PIXELS, `${section}: ${heights.join(", ")}`);
    }
  },
);

browserTest(
  "nothing in the admin page moves for a person who prefers reduced motion",
  async (browser) => {
    await using admin = serveScripted(BUSY);
    const moving = `[...document.querySelectorAll("*")].filter((one) => {
    const style = getComputedStyle(one);
    return style.scrollBehavior === "smooth" || style.animationName !== "none" ||
      !/^0s(, 0s)*$/.test(style.transitionDuration);
  }).length`;
    const still = await browser.open(admin.url, { reducedMotion: true });
    await still.until(IS_DRAWN);
    assertEquals(await still.value(moving), 0);
    const lively = await browser.open(admin.url, { reducedMotion: false });
    await lively.until(IS_DRAWN);
    assert(await lively.value<number>(moving) > 0);
  },
);

browserTest(
  "every control of the admin page is reached with the Tab key and shows the focus",
  async (browser) => {
    await using admin = serveScripted(BUSY);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    const controls = await shown.value<number>(
      `[...document.querySelectorAll("a[href], button:not(:disabled), input, textarea, summary, [tabindex='0']")]
      .map((one, at) => one.dataset.control = String(at)).length`,
    );
    const seen = new Map<string, string>();
    for (let at = 0; at < controls; at++) {
      await shown.page.keyboard.press("Tab");
      const [control = "", outline = ""] = await shown.value<string[]>(
        `[document.activeElement.dataset.control, getComputedStyle(document.activeElement).outlineStyle]`,
      );
      seen.set(control, outline);
    }
    assertEquals(seen.size, controls);
    assertEquals([...new Set(seen.values())], ["solid"]);
  },
);

browserTest("the admin page is used with the keyboard alone", async (browser) => {
  await using admin = serveScripted(BUSY, {
    explain: {
      lines: ["Request: /v1/chat/completions", "Route main: serves the request"],
      isServed: true,
    },
  });
  const shown = await browser.open(admin.url);
  await shown.until(IS_DRAWN);
  const { keyboard } = shown.page;
  const focused = () => shown.value<string>("document.activeElement.textContent.trim()");
  await keyboard.press("Tab");
  assertEquals(await focused(), "Skip to the content");
  await keyboard.press("Enter");
  assertEquals(await shown.value("document.activeElement.id"), "main");
  await shown.page.focus('[aria-label^="Timeline of call 7582"]');
  await keyboard.press("Enter");
  await shown.until(`document.activeElement.id === "timeline-title"`);
  await keyboard.press("Tab");
  assertEquals(await focused(), "Close");
  await keyboard.press("Enter");
  await shown.until(`document.querySelector("#timeline") === null`);
  assertMatch(
    await shown.value("document.activeElement.getAttribute('aria-label')"),
    /^Timeline of call 7582/,
  );
  await shown.page.focus("#explain [name=model]");
  await keyboard.type("gpt-4o");
  await keyboard.press("Tab");
  await keyboard.press("Tab");
  await keyboard.type("openai");
  await keyboard.press("Tab");
  await keyboard.type("X-Team: blue");
  await keyboard.press("Enter");
  await keyboard.type("X-Gateway-Route=main");
  await keyboard.press("Tab");
  await keyboard.press("Enter");
  await shown.until(`document.querySelector("#explain pre") !== null`);
  assertMatch(await shown.text("#explain pre"), /Route main: serves the request/);
  assertEquals(
    new URLSearchParams(admin.explained[0]).toString(),
    new URLSearchParams([
      ["model", "gpt-4o"],
      ["path", "/v1/chat/completions"],
      ["provider", "openai"],
      ["header", "X-Team: blue"],
      ["header", "X-Gateway-Route=main"],
    ]).toString(),
  );
});

browserTest(
  "a screen reader hears the state of the connection, and no number that changes each second",
  async (browser) => {
    await using admin = serveScripted(BUSY);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    await shown.value(`(() => {
    globalThis.spoken = 0;
    for (const one of document.querySelectorAll("[aria-live], [role=status]")) {
      new MutationObserver(() => globalThis.spoken++).observe(one, { subtree: true, childList: true, characterData: true });
    }
  })()`);
    admin.send({ ...BUSY, seconds: [], generation: 9, uptimeMs: 93_999_000, runningCount: 99 });
    await shown.until(`document.querySelector("#facts").innerText.includes("generation 9")`);
    assertEquals(await shown.value("globalThis.spoken"), 0);
    admin.send({ ...TROUBLED, seconds: [] });
    await shown.until("globalThis.spoken > 0");
    const politeness = await shown.value<string[]>(
      `[...document.querySelectorAll("[aria-live]")].map((one) => one.ariaLive)`,
    );
    assertEquals([...new Set(politeness)], ["polite"]);
  },
);
