import type { Snapshot } from "../../../src/admin/snapshot.ts";
import {
  assertNoErrors,
  browserTest,
  type PageSettings,
  type TestPage,
} from "../../support/browser.ts";
import { type ScriptedAdmin, serveScripted } from "../../support/scripted_admin.ts";

/** True in the page when its charts are drawn, which are its last part. */
export const IS_DRAWN = "document.querySelectorAll('canvas').length === 5";

/** Registers a test of the page that is drawn from a snapshot, and in which nothing may go wrong. */
export function drawnTest(
  name: string,
  first: Snapshot,
  run: (shown: TestPage, admin: ScriptedAdmin) => Promise<void>,
  settings: PageSettings = {},
): void {
  browserTest(name, async (browser) => {
    await using admin = serveScripted(first);
    const shown = await browser.open(admin.url, settings);
    await shown.until(IS_DRAWN);
    await run(shown, admin);
    assertNoErrors(shown);
  });
}
