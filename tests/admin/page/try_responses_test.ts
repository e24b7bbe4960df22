import { BUSY } from "../../support/admin_snapshots.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest } from "../../support/browser.ts";
import { simulatedConfig, whileAdminServes } from "./served_admin.ts";
import { drawnSteps, drawnTest, IS_DRAWN } from "./drawn_page.ts";

const STATUS = `document.querySelector("#try .answer [role=status]")?.innerText ?? ""`;

/** Bodies of responses by status, and what the form says of them. */
const RESPONSES: readonly (readonly [number, string, RegExp])[] = [
  [200, `{"error":null,"choices":[{"message":{"content":"hello"}}]}`, /Complete\.[^]*hello/],
  [500, `{"error":"it broke"}`, /Failed\.[^]*it broke$/],
  [400, `{"error":{"message":"no such model"}}`, /Failed\.[^]*no such model$/],
  [502, "<h1>Bad gateway</h1>", /Failed\.[^]*another server may have sent it[^]*<h1>Bad gateway/],
  [
    200,
    `data: {"error":null,"choices":[{"delta":{"content":"hello"}}]}\n\ndata: [DONE]\n\n`,
    /Complete\.[^]*hello/,
  ],
  [200, `data: {"error":{"message":"it broke","code":"stream_broken"}}\n\n`, /it broke \(stream_b/],
  [200, `{"choices":[{"message":{"content":null,"refusal":"I won't"}}]}`, /Complete\.[^]*I won't$/],
  [
    200,
    `data: {"choices":[{"delta":{"refusal":"I won't"}}]}\n\ndata: [DONE]\n\n`,
    /Complete\.[^]*I won't$/,
  ],
  [
    200,
    `data: {"choices":[{"delta":{}}]}\n\ndata: [DONE]\n\n`,
    /Complete\.[^]*The response has no text\./,
  ],
  [
    200,
    `{"choices":[{"message":{"content":"${"x".repeat(200_001)}"}}]}`,
    /Complete\.[^]*x\s+Only the first 200,000 characters are shown\./,
  ],
];

drawnSteps("the forms over responses that the test writes", BUSY, {
  "Try it shows each form of error as one, an absent error as none, and what of a text it does not show":
    async (shown) => {
      for (const [status, body, pattern] of RESPONSES) {
        const type = body.startsWith("data:") ? "text/event-stream" : "application/json";
        await shown.value(`(() => { globalThis.fetch = async () => new Response(
      ${
          JSON.stringify(body)
        }, { status: ${status}, headers: { "content-type": "${type}" } }); })()`);
        await shown.page.click("#try button[type=submit]");
        await shown.until(`/Complete|Failed/.test(${STATUS}) && (${STATUS}).includes("${status}") &&
      ${pattern}.test(document.querySelector("#try .answer").innerText)`);
        assertMatch(await shown.text("#try .answer"), pattern);
      }
    },
  "the buttons of Try it keep the focus when they have nothing to do": async (shown) => {
    await shown.value(`(() => {
    globalThis.sent = 0;
    globalThis.fetch = (_url, { signal }) => {
      globalThis.sent++;
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    };
  })()`);
    const focused = () => shown.value("document.activeElement.textContent");
    const painted =
      "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";
    await shown.page.focus("#try button[type=submit]");
    await shown.page.keyboard.press("Enter");
    await shown.until(`(${STATUS}).includes("Waiting")`);
    await shown.page.keyboard.press("Enter");
    await shown.value(`${painted}.then(() => null)`);
    assertEquals([await focused(), await shown.value("globalThis.sent")], ["Send", 1]);
    await shown.page.keyboard.press("Tab");
    await shown.page.keyboard.press("Enter");
    await shown.until(`(${STATUS}).includes("Stopped.")`);
    await shown.value(`${painted}.then(() => null)`);
    assertEquals(await focused(), "Stop");
  },
  "only the newest explanation is shown": async (shown) => {
    await shown.value(`(() => {
    globalThis.answers = [];
    globalThis.fetch = () => new Promise((resolve) => globalThis.answers.push((line) =>
      resolve(new Response(JSON.stringify({ lines: [line], isServed: true })))));
  })()`);
    await shown.page.type("#explain [name=model]", "one");
    await shown.page.click("#explain button");
    await shown.page.click("#explain button");
    await shown.value(`(() => { globalThis.answers[1]("newest"); })()`);
    await shown.until(`document.querySelector("#explain pre")?.textContent === "newest"`);
    await shown.value(`(async () => {
    globalThis.answers[0]("late");
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  })()`);
    assertEquals(await shown.text("#explain pre"), "newest");
  },
});

drawnTest("Try it says that no route names a model while the form names none", {
  ...BUSY,
  exampleModel: null,
}, async (shown, admin) => {
  const note =
    `document.querySelector("#try").innerText.includes("No route names a model for a call")`;
  assertEquals(await shown.value(note), true);
  await shown.page.click("#try [name=model]", { count: 3 });
  await shown.page.keyboard.type("gpt-4o");
  await shown.until(`!${note}`);
  await shown.page.click("#try [name=model]", { count: 3 });
  await shown.page.keyboard.type("auto");
  await shown.until(note);
  admin.send(BUSY);
  await shown.until(`!${note}`);
});

browserTest("leaving the page ends the call of Try it at the gateway", async (browser) => {
  await whileAdminServes(async ({ page }) => {
    const shown = await browser.open(page);
    await shown.until(IS_DRAWN);
    await shown.page.click("#try [name=model]", { count: 3 });
    await shown.page.keyboard.type("compat/sim-slow-600000");
    await shown.page.click("#try button[type=submit]");
    const witness = await browser.open(page);
    const calls = `document.querySelector("#calls").innerText`;
    await witness.until(`document.querySelector("#calls") && ${calls}.includes("Running 1 call")`);
    await shown.page.close();
    await witness.until(`${calls}.includes("client left") && ${calls}.includes("Running 0 calls")`);
    assertNoErrors(witness);
  }, simulatedConfig);
});
