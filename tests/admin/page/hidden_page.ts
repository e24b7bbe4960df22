import type { TestPage } from "../../support/browser.ts";

/**
 * Hides or shows a page as another tab of its window does. The browser without a window cannot hide
 * one; the admin page reads only this property and event.
 */
export async function setHidden({ value }: TestPage, isHidden: boolean): Promise<void> {
  await value(`(() => {
    Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  })()`);
}
