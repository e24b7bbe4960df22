import { isDeepStrictEqual } from "node:util";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest } from "../../support/browser.ts";
import { until } from "../../support/valkey_server.ts";
import { simulatedConfig, whileAdminServes } from "./served_admin.ts";
import { IS_DRAWN } from "./drawn_page.ts";

/** Returns an expression that is true once the text of an element matches. */
function shows(selector: string, pattern: RegExp): string {
  return `${pattern}.test(document.querySelector(${JSON.stringify(selector)})?.innerText ?? "")`;
}

browserTest(
  "a provider that a reload removes leaves the page, and its running call ends as it would have",
  async (browser) => {
    let file = "";
    await whileAdminServes(async ({ page, write, chat }) => {
      const shown = await browser.open(page);
      await shown.until(IS_DRAWN);
      const leave = new AbortController();
      const { signal } = leave;
      const running = chat("claude-x-sim-slow-600000", { isStream: true, signal }).catch(() => 0);
      const slow = chat("local/sim-slow-600000", { isStream: true, signal }).catch(() => 0);
      await shown.until(shows("#calls", /Running 1 call|Running 2 calls/));
      const without = file.split("\n").filter((line) => !/^ +local: /.test(line)).join("\n")
        .replace("      fallback: [{provider: local}]\n", "")
        .replace("        - {provider: local, weight: 1}\n", "");
      await write(without);
      await shown.until(shows("#facts", /generation 2/));
      await shown.until(`!document.querySelector("#providers").innerText.includes("local")`);
      assertMatch(
        await shown.text("#calls"),
        /Running[^]*coding|main[^]*local\/sim-slow-600000[^]*Finished/,
      );
      leave.abort();
      await Promise.all([running, slow]);
      await shown.until(shows("#calls", /Running 0 calls/));
      await shown.until(shows("#calls", /client left[^]*local/));
      await shown.page.click("#calls button.link");
      await shown.until(shows("#timeline", /local\/sim-slow-600000/));
      assertEquals(await chat("sim-echo"), 200);
      assertNoErrors(shown);
    }, (upstream) => file = simulatedConfig(upstream));
  },
);

browserTest(
  "each setting of the admin page that a reload changes is named on the page until it is as before",
  async (browser) => {
    let file = "";
    await whileAdminServes(async ({ page, write, terminal }) => {
      const shown = await browser.open(page);
      await shown.until(IS_DRAWN);
      const secret = "correct-horse-battery";
      const cases: readonly [string, readonly string[]][] = [
        ["{enabled: false, port: 0}", ["enabled"]],
        ["{enabled: true, port: 1}", ["port"]],
        [`{enabled: true, port: 0, password: ${secret}}`, ["password"]],
        [`{enabled: true, port: 0, host: "::1"}`, ["host"]],
        [
          `{enabled: false, port: 1, host: 0.0.0.0, password: ${secret}}`,
          ["enabled", "host", "port", "password"],
        ],
      ];
      for (const [settings, keys] of cases) {
        await write(file.replace("{enabled: true, port: 0}", settings));
        const lines = keys.map((key) => `admin.${key} has changed: it needs a restart`);
        const shownLines =
          `[...document.querySelectorAll("#warnings li")].map((one) => one.innerText)`;
        await until(async () => isDeepStrictEqual(await shown.value(shownLines), lines));
      }
      await write(
        file.replace("{enabled: true, port: 0}", "{enabled: true, port: 0, host: 0.0.0.0}"),
      );
      await shown.until(shows("#problems", /admin\.password/));
      await write(file);
      await shown.until(`document.querySelector("#warnings, #problems") === null`);
      assert(!terminal.written.err.includes(secret));
      assert(!(await shown.page.content()).includes(secret));
      assertNoErrors(shown);
    }, (upstream) => file = simulatedConfig(upstream));
  },
);
