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

/**
 * Registers a test of the page that is drawn from a snapshot, and in which nothing may go wrong.
 */
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

/** What one step of a test does with the page that the steps share. */
export type DrawnStep = (shown: TestPage, admin: ScriptedAdmin) => Promise<void>;

/**
 * Registers a test whose steps, by their promises, share a page in their order: to open one costs
 * more than most of them. A step leaves the page as the following ones need it.
 */
export function drawnSteps(
  name: string,
  first: Snapshot,
  steps: Readonly<Record<string, DrawnStep>>,
): void {
  browserTest(name, async (browser, context) => {
    await using admin = serveScripted(first);
    const shown = await browser.open(admin.url);
    await shown.until(IS_DRAWN);
    for (const [promise, step] of Object.entries(steps)) {
      await context.step(promise, () => step(shown, admin));
    }
    assertNoErrors(shown);
  });
}
