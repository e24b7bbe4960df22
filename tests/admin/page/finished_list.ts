import type { TestPage } from "../../support/browser.ts";

/** Closes the open call, and takes pointer and focus from the list, which then moves again. */
export async function leaveList({ page, value, until }: TestPage): Promise<void> {
  await page.keyboard.press("Escape");
  await until(`document.querySelector("#timeline") === null`);
  await page.mouse.move(0, 0);
  await value("document.activeElement.blur()");
}
