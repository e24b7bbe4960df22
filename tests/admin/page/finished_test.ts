import type { FinishedCall, Snapshot } from "../../../src/admin/snapshot.ts";
import { AT_MS, BUSY, EMPTY, finishedCall } from "../../support/admin_snapshots.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest, type TestPage } from "../../support/browser.ts";
import { serveScripted } from "../../support/scripted_admin.ts";
import { simulatedConfig, whileAdminServes } from "./served_admin.ts";
import { drawnSteps, drawnTest, IS_DRAWN } from "./drawn_page.ts";

/** Numbers of the calls in the list, from the top. */
const NUMBERS =
  `[...document.querySelectorAll("#finished tr.call button")].map((one) => Number(/\\d+/.exec(one.ariaLabel)[0]))`;

async function filterBy(shown: TestPage, name: string, text: string): Promise<number[]> {
  await shown.page.click("#calls .filters button");
  await shown.page.type(`#calls .filters [name=${name}]`, text);
  return await shown.value<number[]>(NUMBERS);
}

browserTest(
  "a failed call is found again after 300 calls a second that succeeded, by each filter",
  async (browser) => {
    await using admin = serveScripted({ ...BUSY, finished: [] });
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    const failed = finishedCall(50, {
      access: { ...finishedCall(50).access, client: "nightly", route: "coding", model: "qwen3" },
      outcome: "failed",
      code: "upstream_timeout",
    });
    const send = (finished: readonly FinishedCall[], notable: readonly FinishedCall[] = []) => {
      const finishedCount = finished[0]?.number ?? 0;
      const facts = { ...BUSY, seconds: [], generation: finishedCount, finishedCount, finished };
      // A gateway keeps the failed call for pages that open its stream again.
      admin.send({ ...facts, notable }, { ...facts, notable: [failed] });
    };
    for (let second = 1; second <= 4; second++) {
      const newest = Array.from({ length: 100 }, (_, at) => finishedCall(second * 300 - at));
      send(newest, second === 1 ? [failed] : []);
    }
    await shown.until(`document.querySelector("#facts").innerText.includes("generation 1,200") ||
      document.querySelector("#facts").innerText.includes("generation 1200")`);
    const newest = await shown.value<number[]>(NUMBERS);
    assertEquals([newest.length, newest[0], newest.includes(50)], [100, 1_200, false]);
    await shown.page.select("#calls [name=kind]", "failed slow");
    assertEquals(await shown.value(NUMBERS), [50]);
    assertMatch(await shown.text("#calls .row"), /Finished 1 stored call of 1,200/);
    const filters = { end: "timeout", client: "NIGHT", model: "qwen", route: "coding" };
    for (const [name, text] of Object.entries(filters)) {
      assertEquals(await filterBy(shown, name, text), [50], name);
    }
    assertEquals((await filterBy(shown, "provider", "openai")).length, 100);
    assertEquals(await filterBy(shown, "provider", "nowhere"), []);
    assertMatch(await shown.text("#finished"), /No stored call matches/);
    const choices = await shown.value<string[]>(
      `[...document.querySelectorAll("#all-client option")].map(({ value }) => value)`,
    );
    assertEquals(choices, ["chat-bot", "nightly"]);
    assertNoErrors(shown);
  },
);

drawnSteps("the rows and timelines of a busy gateway", BUSY, {
  "a row says how its call was served: cache, attempts, fallback, route, slowness, and the code of a refusal":
    async (shown) => {
      const rows = await shown.value<string[]>(
        `[...document.querySelectorAll("#finished tr.call")].slice(0, 7).map((row) => row.innerText.replaceAll(/\\s+/g, " "))`,
      );
      const patterns = [
        /complete 200 openai\/gpt-4o-mini main chat-bot/,
        /complete 200 office-gpu\/qwen3 3 attempts fallback coding nightly/,
        /not sent 503 circuit_open claude\/claude-sonnet-4-5 coding search/,
        /refused 404 model_not_found gpt-9-mini requested – nightly/,
        /failed 504 upstream_timeout claude\/claude-sonnet-4-5 coding/,
        /complete 200 openai\/gpt-4o-mini cache hit main/,
        /complete 200 openai\/gpt-4o-mini early head held slow main/,
      ];
      for (const [at, pattern] of patterns.entries()) assertMatch(rows[at] ?? "", pattern);
      const tones = await shown.value<string[]>(
        `[...document.querySelectorAll("#calls .badge")].slice(0, 10).map((one) => one.innerText + " " + one.className)`,
      );
      assertEquals(tones, [
        "waiting badge quiet",
        "streaming badge quiet",
        "streaming badge quiet",
        "complete badge good",
        "complete badge good",
        "not sent badge unsent",
        "refused badge warn",
        "failed badge bad",
        "complete badge good",
        "complete badge good",
      ]);
    },
  "a timeline has colours for outcomes only: a chosen target that failed is not green, and what was not sent is no attempt":
    async (shown) => {
      const timeline = async (number: number) => {
        await shown.page.click(`[aria-label^="Timeline of call ${number},"]`);
        await shown.until(`document.querySelector("#timeline") !== null`);
        const badges = await shown.value<string[]>(
          `[...document.querySelectorAll("#timeline .badge")].map((one) => one.innerText + " " + one.className.replace("badge ", ""))`,
        );
        const text = await shown.text("#timeline");
        await shown.page.keyboard.press("Escape");
        await shown.until(`document.querySelector("#timeline") === null`);
        return { badges, text };
      };
      const failed = await timeline(7579);
      assertEquals(failed.badges, ["failed bad", "upstream_timeout bad", "upstream_timeout bad"]);
      const unsent = await timeline(7581);
      assertEquals(unsent.badges, ["not sent unsent", "not sent unsent", "not sent unsent"]);
      assertMatch(
        unsent.text,
        /No attempt was sent\s[^]*claude\/claude-sonnet-4-5\s+not sent circuit_open/,
      );
      assert(!unsent.text.includes("1. claude"));
      const cached = await timeline(7578);
      assertMatch(
        cached.text,
        /Cache\s+hit[^]*answered from the cache\s+chosen[^]*No attempt was sent/,
      );
    },
});

browserTest(
  "the bar with the state of the connection and a refused reload stays in sight",
  async (browser) => {
    for (const [width, height] of [[1200, 900], [390, 844]] as const) {
      const refusedReload = { atMs: AT_MS, lines: ["server.prot: is not a known key"] };
      await using admin = serveScripted({ ...BUSY, refusedReload });
      const shown = await browser.open(admin.url, { width, height });
      await shown.until(IS_DRAWN);
      const inSight = (word: string) =>
        shown.until(`(() => {
          const status = document.querySelector("[role=status]");
          const { top, bottom } = status.getBoundingClientRect();
          return status.innerText.includes(${
          JSON.stringify(word)
        }) && top >= 0 && bottom <= innerHeight &&
            status.contains(document.elementFromPoint(status.getBoundingClientRect().left + 10, top + 10));
        })()`);
      await shown.value(`scrollTo(0, document.body.scrollHeight)`);
      await shown.until("scrollY > 1000");
      await inSight("live");
      await inSight("reload refused");
      await admin.close();
      await inSight("connection lost");
    }
  },
);

/** Calls with a code that is as long as a third of a phone. */
const LONG_CODES: Snapshot = {
  ...BUSY,
  finished: BUSY.finished.map((call) =>
    call.code === undefined ? call : { ...call, code: "upstream_unavailable" }
  ),
};

drawnTest(
  "on a phone a call begins with model and total, and its timeline is as wide as the screen, under its row",
  LONG_CODES,
  async (shown) => {
    const head = await shown.value<string[]>(
      `[...document.querySelectorAll("#finished thead th")].slice(0, 3).map((one) => one.innerText)`,
    );
    assertEquals(head, ["Provider and model", "Total", "Outcome"]);
    const cells = await shown.value<number[]>(
      `[...document.querySelectorAll("#finished tr.call:first-child > *")].slice(0, 3).map((one) => Math.round(one.getBoundingClientRect().right))`,
    );
    assert((cells[2] ?? 999) <= 374, `${cells}`);
    const codes = await shown.value<number[]>(
      `[...document.querySelectorAll("#finished td code")].map((one) => one.getBoundingClientRect().right)`,
    );
    assert(codes.length > 0 && Math.max(...codes) <= 374, `a code is cut off: ${codes}`);
    await shown.page.click("#finished tr.call:nth-child(2) th");
    await shown.until(`document.querySelector("#timeline") !== null`);
    const [left = 0, right = 0, row] = await shown.value<number[]>(`(() => {
      const timeline = document.querySelector("#timeline");
      const { left, right } = timeline.getBoundingClientRect();
      return [left, right, timeline.closest("tr").previousElementSibling.rowIndex];
    })()`);
    assert(left >= 16 && right <= 375 && right - left > 340, `${left} to ${right}`);
    assertEquals(row, 2);
    await shown.page.setViewport({ width: 1200, height: 900 });
    await shown.until(`document.querySelector("#finished thead th").innerText === "Ended at"`);
  },
  { width: 390, height: 844 },
);

browserTest(
  "the page shows snapshots of a gateway of an older version, and asks to be loaded again if it cannot",
  async (browser) => {
    const { notable: _notable, ...older } = BUSY;
    const finished = BUSY.finished.map(({ outcome: _outcome, code: _code, ...call }) => call);
    const providers = BUSY.providers.map(({ notSent: _notSent, ...provider }) => provider);
    const routes = BUSY.routes.map(({ calls: _calls, failed: _failed, ...route }) => route);
    const old = { ...older, finished, providers, routes } as unknown as Snapshot;
    await using admin = serveScripted(old);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    assertMatch(await shown.text("#finished"), /complete 200[^]*circuit_open 503/);
    assert(!(await shown.text("#page")).match(/undefined|NaN/));
    await shown.page.click('[aria-label^="Timeline of call 7581,"]');
    await shown.until(`document.querySelector("#timeline") !== null`);
    assertNoErrors(shown);
    const { providers: _providers, keys: _keys, ...other } = EMPTY;
    admin.send({ ...other, version: "9.0.0" } as unknown as Snapshot);
    await shown.until(
      `document.querySelector("[role=status]")?.innerText === "The gateway has another version than this page. Load the page again."`,
    );
    admin.send(BUSY);
    await shown.until(IS_DRAWN);
  },
);

browserTest(
  "one failure among 300 calls of a gateway is found again, with the model of a refused one",
  async (browser) => {
    await whileAdminServes(async ({ page, chat }) => {
      const shown = await browser.open(page);
      await shown.until(IS_DRAWN);
      const headers = { "x-gateway-provider": "compat" };
      assertEquals(await chat("sim-error-400", { headers }), 400);
      assertEquals(await chat("nowhere/none", { headers: { "x-gateway-provider": "none" } }), 400);
      for (let batch = 0; batch < 15; batch++) {
        await Promise.all(Array.from({ length: 20 }, () => chat("sim-echo", { headers })));
      }
      await shown.until(
        `document.querySelector("#calls").innerText.includes("Finished the newest 100 of 302")`,
      );
      assert(!(await shown.text("#finished")).includes("sim-error-400"));
      await shown.page.select("#calls [name=kind]", "failed slow");
      await shown.until(
        `/failed 400\\s+upstream_rejected\\s+compat\\/sim-error-400/.test(document.querySelector("#finished").innerText)`,
      );
      await shown.page.select("#calls [name=kind]", "refused");
      await shown.until(
        `/refused 400\\s+\\w+\\s+nowhere\\/none requested/.test(document.querySelector("#finished").innerText)`,
      );
      assertNoErrors(shown);
    }, (upstream) => simulatedConfig(upstream));
  },
);
