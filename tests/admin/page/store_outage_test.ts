import { ran } from "../../cli/test_terminal.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { assertNoErrors, browserTest, type TestBrowser } from "../../support/browser.ts";
import { HAS_SERVER, startValkeyServer, until, valkeyTest } from "../../support/valkey_server.ts";
import { simulatedConfig, whileAdminServes } from "./served_admin.ts";
import { IS_DRAWN } from "./drawn_page.ts";

/** Returns an expression that is true once the text of the view of the store matches. */
function shows(pattern: RegExp): string {
  return `${pattern}.test(document.querySelector("#state")?.innerText ?? "")`;
}

/** Sends a request whose response is stored at its end; resolves with its first bytes. */
function beginResponse(gateway: string, model: string): Promise<Response> {
  return fetch(`${gateway}/v1/responses`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, input: "Say hello.", stream: true }),
  });
}

/** Sends a request whose response is stored; returns its status. */
async function storeResponse(gateway: string): Promise<number> {
  const response = await beginResponse(gateway, "sim-echo");
  await response.text();
  return response.status;
}

async function topOf(page: string): Promise<string> {
  return (await ran(["top", "--url", page])).out;
}

browserTest(
  "a store in a file is shown with its objects, on the page and in top",
  async (browser) => {
    const folder = await Deno.makeTempDir();
    await whileAdminServes(
      async ({ page, gateway }) => {
        assertEquals(await storeResponse(gateway), 200);
        const shown = await browser.open(page);
        await shown.until(IS_DRAWN);
        await shown.until(shows(/sqlite[^]*up[^]*Answers in[^]*0 writes[^]*responses\s+1\s/));
        assertMatch(await topOf(page), /State: sqlite, answers in [\d.]+ m?s, 2 entries/);
        assertNoErrors(shown);
      },
      (upstream) =>
        simulatedConfig(upstream, `state: {store: sqlite, sqlite: {path: "${folder}/state.db"}}`),
    );
    await Deno.remove(folder, { recursive: true });
  },
);

async function seesOutage(browser: TestBrowser): Promise<void> {
  const server = await startValkeyServer();
  try {
    await whileAdminServes(
      async ({ page, gateway }) => {
        assertEquals(await storeResponse(gateway), 200);
        const shown = await browser.open(page);
        await shown.until(IS_DRAWN);
        await shown.until(shows(/valkey[^]*up[^]*Answers in[^]*responses\s+1\s/));
        assertMatch(await topOf(page), /State: valkey, answers in [\d.]+ m?s, 2 entries/);
        // Once the gateway has noticed the outage of the server, it refuses what is to be stored.
        const begun = await beginResponse(gateway, "sim-slow-200");
        assertEquals(begun.status, 200);
        await server.kill();
        assertMatch(await begun.text(), /response\.completed/);
        await shown.until(shows(/away for[^]*since[^]*1 write\s[^]*when the store last answered/));
        const state = await shown.text("#state");
        assertEquals(state.includes("Answers in"), false, state);
        assertMatch(await shown.text("[role=status]"), /live[^]*state store away/);
        assertMatch(await topOf(page), /State: valkey, away for [\d.]+ m?s, 1 write waits/);
        await server.restart();
        await shown.until(shows(/up[^]*Answers in[^]*0 writes/));
        await until(async () => /State: valkey, answers in/.test(await topOf(page)));
        assertEquals((await shown.text("[role=status]")).trim(), "live");
        assertNoErrors(shown);
      },
      (upstream) =>
        simulatedConfig(upstream, `state: {store: valkey, valkey: {url: "${server.url}"}}`),
    );
  } finally {
    await server.close();
  }
}

const OUTAGE = "a store whose server ends is shown as away, and as up once it answers again";

if (HAS_SERVER) browserTest(OUTAGE, seesOutage);
// Without a server this names the reason, or fails where CI is set.
else valkeyTest(OUTAGE, () => Promise.reject(new Error("there is no server")));
