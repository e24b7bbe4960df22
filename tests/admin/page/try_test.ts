import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest, type TestPage } from "../../support/browser.ts";
import { simulatedConfig, whileAdminServes } from "./served_admin.ts";
import { IS_DRAWN } from "./drawn_page.ts";

const KEY = "key-of-chat-bot-0123456789";
const KEYS = `
security:
  enabled: true
  api_key: {keys: [{name: chat-bot, value: ${KEY}}]}
`;

/** Fills the form with these values and sends it. */
async function send({ page }: TestPage, values: Readonly<Record<string, string>>) {
  for (const [name, value] of Object.entries(values)) {
    await page.click(`#try [name=${name}]`, { count: 3 });
    await page.keyboard.type(value);
  }
  await page.click("#try button[type=submit]");
}

const STATUS = `document.querySelector("#try .answer [role=status]")?.innerText ?? ""`;

browserTest(
  "Try it streams the response of the gateway, with its headers and the command",
  async (browser) => {
    await whileAdminServes(async ({ page, gateway, terminal }) => {
      const shown = await browser.open(page);
      await shown.until(IS_DRAWN);
      assertEquals(await shown.value("document.querySelector('#try [name=url]').value"), gateway);
      assertEquals(
        await shown.value(
          "['type', 'autocomplete'].map((one) => document.querySelector('#try [name=key]').getAttribute(one))",
        ),
        ["password", "off"],
      );
      const texts = `globalThis.texts = new Set();
      new MutationObserver(() => globalThis.texts.add(document.querySelector("#try-text")?.textContent))
        .observe(document.querySelector("#try"), { subtree: true, childList: true, characterData: true });`;
      await shown.value(`(() => { ${texts} })()`);
      await send(shown, { key: KEY, model: "compat/sim-slow-200", message: "one two it's four" });
      await shown.until(`(${STATUS}).includes("Complete.")`);
      assertMatch(await shown.text("#try-text"), /one two it's four/);
      assert(
        await shown.value<number>("globalThis.texts.size") > 2,
        "the text grew while it arrived",
      );
      const answer = await shown.text("#try .answer");
      assertMatch(answer, /status 200[^]*first text after [\d.]+ m?s, complete after [\d.]+ m?s/);
      assertMatch(answer, /x-gateway-provider\s+compat[^]*x-gateway-route\s+main/);
      assertEquals(
        await shown.text("#curl"),
        `curl '${gateway}/v1/chat/completions' \\
  -H "Authorization: Bearer $SWITCHYARD_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"model":"compat/sim-slow-200","stream":true,"messages":[{"role":"user","content":"one two it'\\''s four"}]}'`,
      );
      const stored = await shown.value<string>(
        `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])`,
      );
      assert(!stored.includes(KEY), "the key is not stored");
      assert(!(await shown.page.content()).includes(KEY), "the key is only in its field");
      assert(!terminal.written.err.includes(KEY), "the key is not in the log");
      await shown.page.click("#try [name=stream]");
      await send(shown, { model: "compat/sim-echo" });
      await shown.until(
        `(${STATUS}).includes("Complete.") && !document.querySelector("#try [name=stream]").checked &&
      document.querySelector("#curl").innerText.includes('"stream":false')`,
      );
      assertMatch(await shown.text("#try-text"), /one two it's four/);
      assertNoErrors(shown);
    }, (upstream) => simulatedConfig(upstream, KEYS));
  },
);

/** Keys in a header of their own, and a model that only the conditions of a route name. */
const OWN_HEADER = (upstream: string) => `
server: {port: 0}
admin: {enabled: true, port: 0}
security:
  enabled: true
  api_key:
    header: X-Team-Key
    prefix: Token
    allow_x_api_key: false
    keys: [{name: chat-bot, value: ${KEY}}]
providers: {compat: {type: compat, base_url: "${upstream}/compat/v1", api_key: any}}
routing:
  routes: [{name: main, match: {models: [sim-echo]}, targets: [{provider: compat}]}]
`;

browserTest(
  "the first call of an empty gateway and Try it use its key header and a model that it serves",
  async (browser) => {
    await whileAdminServes(async ({ page }) => {
      const shown = await browser.open(page);
      await shown.until(IS_DRAWN);
      const command = await shown.value<string>("document.querySelector('#empty pre').textContent");
      const { stdout } = await new Deno.Command("sh", {
        args: ["-c", command],
        env: { SWITCHYARD_KEY: KEY },
      }).output();
      assertEquals(
        JSON.parse(new TextDecoder().decode(stdout)).choices?.[0]?.message.content,
        "Say hello.",
      );
      await shown.page.type("#try [name=message]", " Again.");
      await shown.until(`document.querySelector("#curl").innerText.includes("Again.")`);
      assertMatch(await shown.text("#curl"), /-H "X-Team-Key: Token \$SWITCHYARD_KEY"/);
      await send(shown, { key: KEY });
      await shown.until(`(${STATUS}).includes("Complete.")`);
      assertMatch(await shown.text("#try-text"), /Say hello\./);
      assertMatch(await shown.text("#curl"), /-H "X-Team-Key: Token \$SWITCHYARD_KEY"/);
      assertNoErrors(shown);
    }, OWN_HEADER);
  },
);

browserTest("Try it shows refusals, failures and broken streams in words", async (browser) => {
  await whileAdminServes(async ({ page, gateway }) => {
    const shown = await browser.open(page);
    await shown.until(IS_DRAWN);
    const problem = `document.querySelector("#try-problem")?.innerText ?? ""`;
    const cases: [Record<string, string>, RegExp][] = [
      [{ key: "wrong-key" }, /status 401[^]*Failed\.[^]*\(invalid_api_key\)/],
      [{ key: "schlüssel→" }, /Failed\.[^]*The client key has characters that no key can have\./],
      [{ key: KEY, model: "compat/sim-error-404" }, /status 404[^]*Failed\./],
      [{ model: "compat/sim-broken-stream" }, /status 200[^]*Failed\.[^]*Response/],
      [{ url: "http://127.0.0.1:1" }, /This page may call only the gateway it belongs to/],
      [
        { url: gateway.replace("http:", "https:") },
        /This page may call only the gateway it belongs to/,
      ],
    ];
    for (const [values, pattern] of cases) {
      await shown.value(`(() => { delete globalThis.seen; })()`);
      await send(shown, values);
      await shown.until(`(${STATUS}).includes("Failed.") && (${problem}) !== globalThis.last`);
      await shown.value(`(() => { globalThis.last = ${problem}; })()`);
      assertMatch(await shown.text("#try .answer"), pattern);
    }
  }, (upstream) => simulatedConfig(upstream, KEYS));
});

browserTest(
  "Try it is stopped by its button, which ends the call at the gateway",
  async (browser) => {
    await whileAdminServes(async ({ page }) => {
      const shown = await browser.open(page);
      await shown.until(IS_DRAWN);
      await send(shown, { model: "compat/sim-slow-600000" });
      await shown.until(`document.querySelector("#calls").innerText.includes("Running 1 call")`);
      await shown.page.click("#try button[type=button]");
      await shown.until(`(${STATUS}).includes("Stopped.")`);
      await shown.until(`document.querySelector("#calls").innerText.includes("client left")`);
      assertNoErrors(shown);
    });
  },
);

browserTest("Try it says what to do when the gateway has ended", async (browser) => {
  await whileAdminServes(async ({ page, terminal }) => {
    const shown = await browser.open(page);
    await shown.until(IS_DRAWN);
    terminal.end();
    await shown.until(
      `document.querySelector("[role=status]").innerText.includes("connection lost")`,
    );
    await send(shown, { model: "compat/sim-echo" });
    await shown.until(`(${STATUS}).includes("Failed.")`);
    assertMatch(
      await shown.text("#try-problem"),
      /^There is no response from http:\/\/127\.0\.0\.1:\d+\. .* server\.allowed_origins\.$/,
    );
  });
});
