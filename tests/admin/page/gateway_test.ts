import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest } from "../../support/browser.ts";
import { whileServing } from "../../cli/test_terminal.ts";
import { simulatedConfig, whileAdminServes } from "./served_admin.ts";
import { IS_DRAWN } from "./drawn_page.ts";

/** Returns an expression that is true once the text of an element matches. */
function shows(selector: string, pattern: RegExp): string {
  return `${pattern}.test(document.querySelector(${JSON.stringify(selector)})?.innerText ?? "")`;
}

const KEYS = `
security:
  enabled: true
  api_key:
    keys:
      - name: chat-bot
        value: key-of-chat-bot-0123456789
        requests_per_minute: 600
        budgets: [{per: day, tokens: 100000}]
rate_limiting: {enabled: true}
`;
const NO_FALLBACK = { headers: { "x-gateway-no-fallback": "true" } };
const KEY = "key-of-chat-bot-0123456789";

browserTest("every view of the admin page follows the traffic of a gateway", async (browser) => {
  await whileAdminServes(async ({ page, chat }) => {
    const shown = await browser.open(page);
    await shown.until(IS_DRAWN);
    await shown.until(shows("#empty", /No call yet/));
    for (let at = 0; at < 4; at++) assertEquals(await chat("sim-echo", { key: KEY }), 200);
    assertEquals(await chat("sim-echo", { key: KEY, isStream: true }), 200);
    assertEquals(await chat("claude-x", { key: KEY }), 200);
    assertEquals(await chat("sim-error-400", { key: KEY }), 400);
    assertEquals(await chat("sim-echo", { key: "wrong" }), 401);
    const leave = new AbortController();
    const { signal } = leave;
    const slow = chat("sim-slow-600000", { key: KEY, isStream: true, signal }).catch(() => 0);
    await shown.until(
      shows("#calls", /Running 1 call[^]*sim-slow-600000[^]*Finished the newest 8 of 8/),
    );
    await shown.until(shows("#charts", /finished [\d.]*[1-9]/));
    await shown.until(shows("#providers", /compat[^]*closed[^]*success [1-9]/));
    await shown.until(
      shows(
        "#routes",
        /coding[^]*1 call, none failed[^]*claude\/model of the request\s+100 %\s+100 %\s+1\s+0[^]*main[^]*75 %/,
      ),
    );
    await shown.until(shows("#keys", /chat-bot\s+\d of 600[^]*of 100 k tokens/));
    assertMatch(await shown.text("#state"), /memory[^]*up/);
    assertMatch(await shown.text("#calls"), /refused 401\s+invalid_api_key/);
    assertEquals(await shown.value("document.querySelector('#empty')"), null);
    assert(!(await shown.page.content()).includes(KEY), "no key is in the page");
    assertNoErrors(shown);
    leave.abort();
    await slow;
    await shown.until(shows("#calls", /client left/));
  }, (upstream) => simulatedConfig(upstream, KEYS));
});

browserTest(
  "a provider that dies is shown with its open circuit breaker and the time left",
  async (browser) => {
    await whileAdminServes(async ({ page, chat, kill }) => {
      const shown = await browser.open(page);
      await shown.until(IS_DRAWN);
      assertEquals(await chat("claude-x"), 200);
      await shown.until(shows("#providers", /claude messages\s+closed/));
      await kill();
      assertEquals(await chat("claude-x", NO_FALLBACK), 502);
      await shown.until(
        shows(
          "#providers",
          /claude messages\s+open next attempt in 4 min 5\d s[^]*upstream_unreachable 1/,
        ),
      );
      assertEquals(await chat("claude-x", NO_FALLBACK), 503);
      await shown.until(shows("#calls", /not sent 503\s+circuit_open/));
      await shown.page.click("#calls button.link");
      await shown.until(
        shows("#timeline", /The provider has failed too often[^]*claude\/claude-x[^]*circuit_open/),
      );
      assertNoErrors(shown);
    });
  },
);

browserTest(
  "a broken file is on the page with the next snapshot, with line and column, until it is mended",
  async (browser) => {
    let file = "";
    await whileAdminServes(async ({ page, write, terminal }) => {
      const shown = await browser.open(page);
      await shown.until(IS_DRAWN);
      await shown.value(`(() => {
      globalThis.refusals = [];
      new EventSource("/events").onmessage = ({ data }) => {
        globalThis.refusals.push(JSON.parse(data).refusedReload !== null);
      };
    })()`);
      await write(file.replace("weight: 3", "wait: 3"));
      await terminal.printed(/configuration not reloaded/);
      const before = await shown.value<number>("globalThis.refusals.length");
      await shown.until(
        shows(
          "#problems",
          /wait: is not a known key \(line 18, column \d+\)/,
        ),
      );
      // At most one snapshot, which is sent each second, was on its way before the refusal.
      const first = await shown.value<number>("globalThis.refusals.indexOf(true)");
      assert(first <= before + 1, `${first} after ${before}`);
      assertMatch(await shown.text("#problems"), /still runs with generation 1/);
      assertMatch(await shown.text("[role=status]"), /reload refused/);
      await write(file.replace("weight: 3", "weight: 4"));
      await shown.until(`document.querySelector("#problems") === null`);
      await shown.until(shows("#facts", /generation 2/));
      await shown.until(shows("#routes", /80 %/));
      assertNoErrors(shown);
    }, (upstream) => file = simulatedConfig(upstream));
  },
);

browserTest(
  "the link of the demo opens living charts within two snapshots of the first call",
  async (browser) => {
    await whileServing(["demo", "--port", "0"], async (terminal) => {
      const [, page = ""] = await terminal.printed(/Admin page: (\S+)\n/);
      const shown = await browser.open(page);
      await shown.value(`(() => {
      globalThis.heard = [];
      new EventSource("/events").onmessage = ({ data }) => {
        const { finishedCount, seconds } = JSON.parse(data);
        globalThis.heard.push([finishedCount, seconds.length]);
      };
    })()`);
      await shown.until(shows("#charts", /finished [\d.]*[1-9]/));
      await shown.until("globalThis.heard.some(([, seconds]) => seconds > 0)");
      const late = await shown.value<number>(
        `globalThis.heard.findIndex(([, seconds]) => seconds > 0) -
      globalThis.heard.findIndex(([finished]) => finished > 0)`,
      );
      assert(late <= 2, `${late} snapshots without a living chart`);
      await shown.until(shows("#providers", /compat[^]*success [1-9]/));
      assertNoErrors(shown);
    });
  },
);

browserTest("the form explains a request as the command does", async (browser) => {
  await whileAdminServes(async ({ page }) => {
    const shown = await browser.open(page);
    await shown.until(IS_DRAWN);
    await shown.page.type("#explain [name=model]", "claude-x");
    await shown.page.click("#explain button");
    await shown.until(
      shows("#explain pre.good", /Route coding: serves the request[^]*claude\/claude-x/),
    );
    await shown.page.type("#explain [name=provider]", "nowhere");
    await shown.page.click("#explain button");
    await shown.until(shows("#explain pre.bad", /There is no provider nowhere/));
    await shown.page.type("#explain [name=headers]", "no header");
    await shown.page.click("#explain button");
    await shown.until(
      shows("#explain .trouble", /header must be written NAME=VALUE or NAME: VALUE\./),
    );
    await shown.page.click("#explain [name=headers]", { count: 3 });
    await shown.page.keyboard.type("X-Gateway-Provider: compat\nx-gateway-route = coding");
    await shown.page.click("#explain [name=provider]", { count: 3 });
    await shown.page.keyboard.press("Backspace");
    await shown.page.click("#explain button");
    await shown.until(shows("#explain pre", /provider compat\s+Route coding/));
  });
});

browserTest(
  "the timeline of a call that a fallback served says that the fallback was tried",
  async (browser) => {
    await whileAdminServes(
      async ({ page, chat }) => {
        const shown = await browser.open(page);
        await shown.until(IS_DRAWN);
        assertEquals(await chat("claude-x"), 200);
        await shown.until(shows("#finished", /complete 200[^]*local/));
        await shown.page.click("#finished button");
        await shown.until(shows("#timeline", /Served by\s+local/));
        const choices = await shown.value<string[][]>(
          `[...document.querySelectorAll("#timeline tbody")[0].rows].map((row) => [...row.cells].slice(1).map((cell) => cell.innerText.trim()))`,
        );
        assertEquals(choices, [
          ["target", "upstream_unreachable", "chosen"],
          ["fallback", "success", "tried"],
          ["fallback", "–", "not needed"],
        ]);
        assertNoErrors(shown);
      },
      (upstream) =>
        simulatedConfig(upstream).replace(`${upstream}/messages`, "http://127.0.0.1:1").replace(
          "fallback: [{provider: local}]",
          "fallback: [{provider: local}, {provider: compat}]",
        ),
    );
  },
);
