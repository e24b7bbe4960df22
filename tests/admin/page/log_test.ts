import { openRecordFile } from "../../../src/record/record_file.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import { fileOptions, withFolder, written } from "../../record/support.ts";
import { testAdmin } from "../../support/admin.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { browserTest } from "../../support/browser.ts";
import { oneProvider } from "../../support/gateway.ts";

const PASSWORD = "correct-horse-battery";

const HOSTILE =
  '<img src=x onerror="document.title=1"><script>document.title=2</script>\u202eevil\u001b[31m';

browserTest(
  "the view of recorded calls finds one and shows its content as text, on a wide and a narrow screen",
  async (browser) => {
    await withFolder(async (folder) => {
      const file = openRecordFile(fileOptions(folder, { keepMs: 1e12 }));
      const now = Date.UTC(2026, 10, 22, 12);
      const many = (count: number) =>
        Array.from(
          { length: count },
          (_, at) => written(`old-${at}`, now - 60_000, { body: null }),
        );
      file.write(many(48), now);
      const words = `${HOSTILE} ${"long word ".repeat(300)}${"x".repeat(3_000)}`;
      const body = JSON.stringify({ messages: [{ role: "user", content: words }] });
      const choices = [{ message: { content: HOSTILE } }];
      const times = { began: 1, ended: 2 };
      const model = "x".repeat(1_000);
      const attempts = [{ provider: "up", key: null, model, outcome: "success", ...times }];
      file.write([
        written("id-1", now, {
          head: { key: HOSTILE, attempts },
          body,
          answer: JSON.stringify({ choices }),
        }),
        written("id-2", now + 1_000, { head: { status: 502, end: "upstream_status" }, body: null }),
      ], now);
      const world = newRealWorld();
      let isBroken = false;
      const { admin } = testAdmin(
        oneProvider("http://up"),
        world as never,
        `{enabled: true, password: ${PASSWORD}}`,
        {
          recorder: {
            scan: (request) => Promise.resolve(isBroken ? null : file.scan(request)),
            sizes: () => ({
              ...{ isOn: true, bytes: 20_480, oldestMs: 60_000 },
              ...{ queueChars: 0, dropped: 7 },
            }),
          },
        },
      );
      const address = { hostname: "127.0.0.1", port: 0, onListen() {} };
      const server = Deno.serve(address, (request) => admin.handle(request));
      const url = `http://admin:${PASSWORD}@127.0.0.1:${server.addr.port}/`;
      for (const width of [1_200, 390]) {
        const shown = await browser.open(url, { width, height: 900 });
        await shown.until('document.querySelector("#log form") !== null');
        assertMatch(await shown.text("#log"), /20.5 kB, the oldest from .* ago, 7 dropped\n/);
        await shown.page.type('#log input[name="text"]', "LONG word");
        await shown.page.click('#log button[type="submit"]');
        await shown.until('document.querySelectorAll("#log tbody button").length === 1');
        await shown.page.click("#log tbody button");
        await shown.until('document.querySelector("#record pre") !== null');
        const text = await shown.text("#record");
        // Below a long list it would be out of sight.
        await shown.until('document.activeElement === document.querySelector("#record h3")');
        assert(text.includes("<img src=x onerror") && text.includes("\\u202eevil\\u001b[31m"));
        assertEquals(
          await shown.value("document.querySelectorAll('#log img, #log script').length"),
          0,
        );
        assertEquals(
          await shown.value("document.documentElement.scrollWidth <= innerWidth"),
          true,
          `${width} pixels`,
        );
        const folder = Deno.env.get("LOG_PICTURES");
        if (folder !== undefined) {
          const element = await shown.page.$("#log");
          await Deno.writeFile(`${folder}/log-${width}.png`, await element!.screenshot());
        }
        await shown.page.click("#record button");
        await shown.until('document.querySelector("#record") === null');
        await shown.until('document.activeElement === document.querySelector("#log tbody button")');
        isBroken = true;
        await shown.page.click('#log button[type="submit"]');
        await shown.until('document.querySelector("#log .trouble") !== null');
        isBroken = false;
        assertEquals(await shown.text("#log .trouble"), "The file of records cannot be read.");
        assertEquals(await shown.value("document.querySelectorAll('#log tbody tr').length"), 0);
        assertEquals(shown.errors, []);
      }
      // Fifty, and one more.
      const shown = await browser.open(url, { width: 1_200, height: 900 });
      await shown.until('document.querySelector("#log form") !== null');
      await shown.page.click('#log button[type="submit"]');
      await shown.until('document.querySelectorAll("#log tbody tr").length === 50');
      const more =
        `document.querySelector("#log").innerText.includes("These are the newest 50; more calls match.")`;
      assertEquals(await shown.value(more), false);
      file.write(many(1), now);
      await shown.page.click('#log button[type="submit"]');
      await shown.until(more);
      assertEquals(await shown.value('document.querySelectorAll("#log tbody tr").length'), 50);
      admin.close();
      await server.shutdown();
      world.close();
      file.close();
    });
  },
);
