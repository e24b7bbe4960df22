import type { Snapshot } from "../../../src/admin/snapshot.ts";
import { AT_MS, BUSY, EMPTY, finishedCall } from "../../support/admin_snapshots.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest, type TestPage } from "../../support/browser.ts";
import { serveScripted } from "../../support/scripted_admin.ts";
import { drawnSteps, drawnTest, IS_DRAWN } from "./drawn_page.ts";

drawnSteps("a page of a busy gateway", BUSY, {
  "each view of the admin page shows its part of a snapshot with units": async (shown) => {
    const parts = {
      header: /Switchyard\s+live\s+Charts\s+Providers/,
      "#facts": /1\.0\.0[^]*1 d 2 h[^]*generation 4[^]*sqlite, answers in 0\.21 ms[^]*12 calls/,
      "#warnings": /1 warning[^]*has begun, so the key is refused \(line 41, column 16\)/,
      "#charts":
        /finished [\d.]+\/s\s*failed [\d.]+\/s\s*refused [\d.]+\/s\s*not sent [\d.]+\/s[^]*p50 \d+ ms[^]*input [\d,.]+\/s[^]*\$[\d.]+\/h[^]*open \d+/,
      "#providers":
        /openai[^]*closed[^]*5,210[^]*success 5,178, upstream_throttled 21[^]*412 ms\s+1\.26 s\s+7 of 16[^]*spare\s+rests for 25 s[^]*claude[^]*open next attempt in 18 s[^]*half-open[^]*4 of 4, 3 calls waiting\s+no pool/,
      "#routes":
        /coding\s+any path, model claude-\*\s*weighted; 663 calls, 23 \(3 %\) failed, 10 % with an early head\s+claude\/claude-sonnet-4-5\s+80 %\s+63 %\s+425\s+23 \(5 %\)\s+81 %[^]*office-gpu\/qwen3 fallback\s+–\s+12 %\s+78\s+0\s+–[^]*openai\/model of the request/,
      "#calls":
        /Running the newest 3 of 12 calls[^]*312 ms\s+waiting[^]*1\.24 s\s+streaming\s[^]*\s31\s[^]*11:59:59\s+complete 200[^]*1,200 in, 85 out\s+\$0\.000231[^]*not sent 503\s+circuit_open/,
      "#keys":
        /chat-bot web\s+212 of 600\s+184 k of 500 k\s+276 k of 800 k web\s+3 of 20\s+\$12\.40 of \$20\.00, 62 % day, chat-bot\s+\$412\.90 of \$500\.00, 83 % month, web\s+18,204 calls, 9\.2 M in, 1\.88 M out, \$12\.40\s+nightly web\s+60 of 60\s+92,000\s+276 k of 800 k web\s+1 of 1[^]*880 k of 1 M tokens, 88 %[^]*old-laptop disabled or expired/,
      "#privacy":
        /15,877 values[^]*3 tokens[^]*64 parts[^]*mail\s+18,204\s+replace\s+request\s+outside\s+cards[^]*badges\s+2\s+refuse\s+request\s+strict\s+strangers\s+7\s+mask\s+response\s+outside\s+draft\s+0\s+monitor\s+request\s+in no policy[^]*outside\s+every call\s+allow\s+mail, cards, ids, projects, strangers\s+strict\s+keys that select it\s+refuse\s+badges/,
      "#state": /sqlite[^]*up[^]*0\.21 ms[^]*0 writes[^]*responses\s+1,204\s+8\.21 MB/,
    };
    for (const [selector, pattern] of Object.entries(parts)) {
      assertMatch(
        await shown.text(selector),
        pattern,
        `${selector}: ${await shown.text(selector)}`,
      );
    }
    const painted = await shown.value<number[]>(
      `[...document.querySelectorAll("canvas")].map((one) => new Set(new Uint32Array(
      one.getContext("2d").getImageData(0, 0, one.width, one.height).data.buffer)).size)`,
    );
    assert(painted.every((colours) => colours > 3), `painted canvases: ${painted}`);
  },
  "each chart of the admin page has its numbers in a table by minute": async (shown) => {
    const labels = await shown.value<string[]>(
      `[...document.querySelectorAll(".plot")].map((one) => one.getAttribute("aria-label"))`,
    );
    assertMatch(
      labels[1] ?? "",
      /^First token time, line chart of the last 15 minutes\. Now: p50 \d/,
    );
    assertEquals(labels.length, 5);
    await shown.value(`document.querySelectorAll(".chart summary").forEach((one) => one.click())`);
    await shown.until(`document.querySelectorAll(".chart table").length === 5`);
    const rows = await shown.value<number[]>(
      `[...document.querySelectorAll(".chart table")].map((one) => one.tBodies[0].rows.length)`,
    );
    assertEquals(rows, [15, 15, 15, 15, 15]);
    const columns = await shown.value<string[]>(
      `[...document.querySelectorAll(".chart table")].map((one) => one.tHead.innerText.trim().split(/\\t/).slice(1).join(", "))`,
    );
    assertEquals(columns, [
      "finished, failed, refused, not sent",
      "highest p50 of a second, highest p95 of a second",
      "input, output",
      "dollars",
      "most",
    ]);
    assertMatch(
      await shown.text(".chart table tbody tr"),
      /^11:59(\s+[\d.]+\/s){4}$/,
    );
  },
  "the timeline of a finished call shows its route, targets, attempts and losses": async (
    shown,
  ) => {
    await shown.page.click('[aria-label^="Timeline of call 7582"]');
    await shown.until(`document.querySelector("#timeline") !== null`);
    const text = await shown.text("#timeline");
    for (
      const pattern of [
        /POST \/v1\/chat\/completions[^]*complete 200 at 22 Nov 2026, 11:59:59/,
        /Session\s+build-42\s+Route\s+coding\s+Served by\s+office-gpu\/qwen3\s+Requested model\s+claude-sonnet-4-5/,
        /First byte\s+1\.4 s\s+First token\s+1\.45 s\s+Total\s+4\.87 s\s+Waited for a slot\s+121 ms\s+Cache\s+miss/,
        /Tokens\s+5,210 in, 640 out\s+Cost\s+\$0\.0142\s+Verified\s+response_format\s+Lossy fields\s+reasoning_effort, messages\[2\]\.content\[1\]/,
        /claude\/claude-sonnet-4-5\s+target\s+–\s+passed over: its circuit breaker is open, or all its keys rest/,
        /openai\/gpt-4o\s+target\s+upstream_unavailable\s+chosen\s+office-gpu\/qwen3\s+fallback\s+success\s+tried\s+office-gpu\/gemma3\s+fallback\s+–\s+not needed/,
        /1\. openai\/gpt-4o\s+main\s+upstream_throttled\s+4 ms\s+220 ms\s+216 ms/,
        /3\. office-gpu\/qwen3\s+–\s+success\s+1\.23 s\s+4\.87 s\s+3\.64 s/,
      ]
    ) assertMatch(text, pattern, text);
    const bars = await shown.value<number[][]>(
      `[...document.querySelectorAll("#timeline .gantt .fill")].map((one) =>
      [one.getAttribute("x"), one.getAttribute("width")].map(Number).map(Math.round))`,
    );
    assertEquals(bars, [[0, 4], [5, 18], [25, 75]]);
  },
});

browserTest(
  "each key of a pool shows whether it is used, rests or is kept back",
  async (browser) => {
    const key = { isUsed: true, restsForMs: null, opensInMs: null };
    const keys = [
      { ...key, name: "one" },
      { ...key, name: "two", restsForMs: 24_500 },
      { ...key, name: "three", opensInMs: 17_200 },
      { ...key, name: "four", isUsed: false },
    ];
    const providers = EMPTY.providers.map((provider) => ({ ...provider, keys }));
    await using admin = serveScripted({ ...EMPTY, providers });
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    assertMatch(
      await shown.text("#providers"),
      /one in use\s+two\s+rests for 25 s\s+three\s+breaker open for 18 s\s+four not used: weight 0/,
    );
    assertNoErrors(shown);
  },
);

browserTest(
  "a provider with a credential shows whether it is valid, not refreshed or missing",
  async (browser) => {
    const [first] = EMPTY.providers;
    if (first === undefined) throw new Error("the snapshot has no provider");
    const providers = (["fresh", "late", "gone"] as const)
      .map((credential) => ({ ...first, id: `p-${credential}`, keys: [], credential }));
    await using admin = serveScripted({ ...EMPTY, providers });
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    assertMatch(
      await shown.text("#providers"),
      /p-fresh[^]*credential valid[^]*p-late[^]*credential not refreshed[^]*p-gone[^]*no credential/,
    );
    assertNoErrors(shown);
  },
);

const [SERVED] = BUSY.finished;
if (SERVED === undefined) throw new Error("the snapshot has no finished call");
const { route: _route, ...UNROUTED } = SERVED.access;
const NOWHERE = {
  ...SERVED,
  targets: [],
  attempts: [],
  failure: "unsupported_feature: It cannot.",
};

/** Opens the timeline of a call, in place of the open one, and returns its text. */
async function timelineOf({ page, until, text }: TestPage, number: number): Promise<string> {
  const button = `[aria-label^="Timeline of call ${number},"]`;
  await page.click(button);
  await until(`document.querySelector('${button}').closest("tr").nextElementSibling
    ?.querySelector("#timeline") instanceof Element`);
  return await text("#timeline");
}

drawnSteps("timelines of calls that failed", {
  ...BUSY,
  finished: [
    {
      ...SERVED,
      number: 4,
      failure: "promise_broken: The response is no object of the schema.",
      code: "promise_broken",
      verified: ["response_format.json_schema.strict"],
    },
    { ...SERVED, number: 3, failure: "circuit_open: It rests.", verified: ["tool_choice"] },
    { ...NOWHERE, number: 2 },
    { ...NOWHERE, number: 1, access: UNROUTED },
  ],
}, {
  "the timeline of a call whose promise was broken says so, and calls nothing verified": async (
    shown,
  ) => {
    const text = await timelineOf(shown, 4);
    assertMatch(text, /promise_broken: The response is no object of the schema\./);
    assertMatch(text, /Checked, and broken\s+response_format\.json_schema\.strict/);
    assertEquals(text.includes("Verified"), false);
  },
  "the timeline of a call that failed calls nothing verified, and no target one that served it":
    async (shown) => {
      const text = await timelineOf(shown, 3);
      assertMatch(text, /Last target\s[^]*Not verified\s+tool_choice/);
      assertEquals([text.includes("Verified"), text.includes("Served by")], [false, false]);
    },
  "the timeline of a call without targets says whether it has a route": async (shown) => {
    assertMatch(
      await timelineOf(shown, 2),
      /No target of the route can continue the stored object\./,
    );
    assertMatch(await timelineOf(shown, 1), /The call was not routed\./);
  },
});

browserTest(
  "a held list of finished calls does not move until the person continues",
  async (browser) => {
    await using admin = serveScripted(BUSY);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    await shown.page.click("#calls .row button");
    await shown.until(`document.querySelector("#calls [aria-pressed=true]") !== null`);
    admin.send({ ...BUSY, seconds: [], finishedCount: 7600, finished: [finishedCall(7600)] });
    await shown.until(`document.querySelector("#calls").innerText.includes("of 7,600")`);
    const isShown = `document.querySelector('[aria-label^="Timeline of call 7600"]') !== null`;
    assertEquals(await shown.value(isShown), false);
    await shown.page.click("#calls .row button");
    await shown.until(isShown);
  },
);

browserTest(
  "the head says that the gateway drains, and that its state store is unavailable",
  async (browser) => {
    const away: Snapshot = {
      ...BUSY,
      isDraining: true,
      store: {
        ...BUSY.store,
        engine: "valkey",
        isUp: false,
        awaySinceMs: AT_MS - 65_000,
        pendingWrites: 12,
      },
    };
    await using admin = serveScripted(away);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    assertMatch(
      await shown.text("[role=status]"),
      /live\s*draining: the gateway shuts down\s*state store away/,
    );
    assertMatch(await shown.text("#facts"), /valkey, away since 11:58:55/);
    assertMatch(await shown.text("#state"), /away for 1 min 5 s, since 11:58:55[^]*12 writes/);
  },
);

drawnTest(
  "an empty gateway explains what to do next",
  { ...EMPTY, requiresKey: true },
  async (shown, admin) => {
    assertMatch(
      await shown.text("#empty"),
      /No call yet[^]*http:\/\/127\.0\.0\.1:8080[^]*curl 'http:\/\/127\.0\.0\.1:8080\/v1\/chat\/completions'[^]*Bearer \$SWITCHYARD_KEY[^]*"model":"openai\/gpt-4o-mini"[^]*switchyard key new/,
    );
    assertMatch(await shown.text("#calls"), /No call is running\.[^]*No call has finished yet\./);
    assert(!(await shown.text("#try")).includes("No route names"));
    assert(!(await shown.text("#empty")).includes("No route names"));
    admin.send({ ...EMPTY, exampleModel: null });
    await shown.until(`document.querySelector("#empty").innerText.includes("No route names")`);
    assertMatch(
      await shown.text("#empty"),
      /"model":"auto"[^]*No route names a model for a call without further headers: put the name of one/,
    );
    admin.send({ ...EMPTY, routes: [] });
    await shown.until(`document.querySelector("#empty").innerText.includes("no route yet")`);
    assertMatch(await shown.text("#empty"), /Add one under routing\.routes/);
    admin.send({ ...EMPTY, finishedCount: 1, finished: [finishedCall(1)] });
    await shown.until(`document.querySelector("#empty") === null`);
  },
);

browserTest(
  "a lost connection is shown, and the page recovers by itself without a second copy",
  async (browser) => {
    const admin = serveScripted(BUSY);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    await admin.close();
    await shown.until(
      `document.querySelector("[role=status]").innerText.includes("connection lost")`,
    );
    assertMatch(
      await shown.text("[role=status]"),
      /connection lost\s+since \d\d:\d\d:\d\d\. The page connects again by itself\./,
    );
    assertMatch(await shown.text("#providers"), /5,210/, "what was known remains");
    const port = Number(new URL(admin.url).port);
    await using again = serveScripted({ ...BUSY, version: "1.0.1", uptimeMs: 2000 }, { port });
    await shown.until(`document.querySelector("#facts").innerText.includes("1.0.1")`);
    assertMatch(
      await shown.text("[role=status]"),
      /^\s*live\s+the gateway has another version or address\s+Load the page again\.\s*$/,
    );
    assertEquals(again.opened, 1);
    const rows = `document.querySelectorAll("#calls button.link").length`;
    assertEquals(await shown.value(rows), BUSY.finished.length);
  },
);
