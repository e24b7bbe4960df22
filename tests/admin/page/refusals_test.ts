import { assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest } from "../../support/browser.ts";
import { simulatedConfig, whileAdminServes } from "./served_admin.ts";
import { IS_DRAWN } from "./drawn_page.ts";

browserTest(
  "a foreign name that points at the gateway does not get the admin page",
  async (browser) => {
    await whileAdminServes(async ({ page }) => {
      const shown = await browser.open("about:blank");
      const foreign = page.replace("127.0.0.1", "evil.example");
      const response = await shown.page.goto(foreign);
      assertEquals(response?.status(), 403);
      assertMatch(await shown.text("body"), /does not answer to this host name/);
      const local = await shown.page.goto(page.replace("127.0.0.1", "localhost"));
      assertEquals(local?.status(), 200);
    });
  },
);

browserTest("a page of another origin cannot read or frame the admin page", async (browser) => {
  await using other = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response("<title>other</title>", { headers: { "content-type": "text/html" } }),
  );
  await whileAdminServes(async ({ page }) => {
    const shown = await browser.open(`http://127.0.0.1:${other.addr.port}/`);
    const statuses: number[] = [];
    shown.page.on("response", (response) => {
      if (response.url().startsWith(page)) statuses.push(response.status());
    });
    const read = await shown.value<string[]>(`Promise.all([
      fetch("${page}snapshot").then(() => "read", () => "blocked"),
      fetch("${page}snapshot", { mode: "no-cors" }).then(({ type }) => type, () => "blocked"),
      new Promise((resolve) => {
        const source = new EventSource("${page}events");
        source.onmessage = () => resolve("read");
        source.onerror = () => { source.close(); resolve("blocked"); };
      }),
      new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.src = "${page}";
        frame.onload = () => resolve(frame.contentDocument === null ? "blocked" : "read");
        document.body.append(frame);
      }),
    ])`);
    assertEquals(read.filter((one) => one === "read"), []);
    assertEquals(statuses.filter((status) => status !== 403), []);
  });
});

browserTest(
  "a wrong password is refused, and the right one opens the page and its events",
  async (browser) => {
    const password = "correct-horse-battery";
    await whileAdminServes(async ({ page, terminal }) => {
      const wrong = await browser.open("about:blank");
      await wrong.page.authenticate({ username: "admin", password: "wrong-horse-battery" });
      const refused = await wrong.page.goto(page);
      assertEquals(refused?.status(), 401);
      const shown = await browser.open("about:blank");
      await shown.page.authenticate({ username: "admin", password });
      await shown.page.goto(page);
      await shown.until(IS_DRAWN);
      assertMatch(await shown.text("[role=status]"), /^\s*live\s*$/);
      assertNoErrors(shown);
      assertEquals(terminal.written.err.includes(password), false);
      const named = await browser.open(page.replace("http://", `http://admin:${password}@`));
      await named.until(IS_DRAWN);
      await named.page.type("#explain [name=model]", "claude-x");
      await named.page.click("#explain button");
      await named.until(
        `/Route coding: serves/.test(document.querySelector("#explain").innerText)`,
      );
      assertNoErrors(named);
    }, (upstream) =>
      simulatedConfig(upstream).replace(
        "port: 0}\nproviders",
        `port: 0, password: ${password}}\nproviders`,
      ));
  },
);
