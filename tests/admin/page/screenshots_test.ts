import type { Snapshot } from "../../../src/admin/snapshot.ts";
import { isFaultKind } from "../../../src/core/failure/failure.ts";
import { BUSY } from "../../support/admin_snapshots.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { browserTest, type TestPage } from "../../support/browser.ts";
import { serveScripted } from "../../support/scripted_admin.ts";
import { IS_DRAWN } from "./drawn_page.ts";

/**
 * Pictures of the documentation. With SCREENSHOTS=1 the test writes them, otherwise it only takes
 * them.
 */
const FOLDER = new URL("../../../docs/operate/images/", import.meta.url);
const MAX_PICTURE_BYTES = 200_000;
const TROUBLED: Snapshot = {
  ...BUSY,
  refusedReload: {
    atMs: BUSY.atMs,
    lines: ['server.prot: is not a known key; did you mean "port"? (line 2, column 3)'],
  },
};

async function take(shown: TestPage, name: string, selector: string | null): Promise<void> {
  await shown.until(IS_DRAWN);
  const element = selector === null ? null : await shown.page.$(selector);
  const bytes = await (element ?? shown.page).screenshot({ type: "png" });
  assertEquals([...bytes.slice(1, 4)], [0x50, 0x4e, 0x47]);
  assert(bytes.length > 5000 && bytes.length < MAX_PICTURE_BYTES, `${name}: ${bytes.length} bytes`);
  if (Deno.env.get("SCREENSHOTS") !== "1") return;
  await Deno.mkdir(FOLDER, { recursive: true });
  await Deno.writeFile(new URL(`${name}.png`, FOLDER), bytes);
}

browserTest(
  "the pictures of the documentation are taken from the page, each below 200 kB",
  async (browser) => {
    await using admin = serveScripted(TROUBLED);
    const light = await browser.open(admin.url, { width: 1200, height: 900 });
    await take(light, "admin-overview", null);
    await take(light, "admin-providers", "#providers");
    await take(light, "admin-calls", "#calls");
    await light.page.click('[aria-label^="Timeline of call 7582"]');
    await light.until(`document.querySelector("#timeline") !== null`);
    await take(light, "admin-timeline", "#timeline");
    const dark = await browser.open(admin.url, { width: 1200, height: 760, scheme: "dark" });
    await take(dark, "admin-dark", null);
  },
);

Deno.test("the pictures of the documentation show only outcomes that an attempt can have", () => {
  const { providers, finished } = TROUBLED;
  const outcomes = [
    ...providers.flatMap((one) => Object.keys(one.outcomes)),
    ...finished.flatMap(({ attempts }) => attempts.map(({ outcome }) => outcome)),
  ];
  assertEquals(outcomes.filter((name) => name !== "success" && !isFaultKind(name)), []);
});
