// @ts-check
/// <reference lib="dom" />
import { render } from "preact";
import { Calls } from "./calls.js";
import { Charts } from "./charts.js";
import { follow, NO_FEED } from "./feed.js";
import { isListInUse } from "./finished.js";
import { Empty, Facts, Head, Problems } from "./head.js";
import { Keys } from "./keys.js";
import { Log } from "./log.js";
import { Privacy } from "./privacy.js";
import { Providers } from "./providers.js";
import { Routes } from "./routes.js";
import { State } from "./state.js";
import { TryIt } from "./try.js";
import { view } from "./ui.js";
/** @import { Feed } from "./feed.js" */

/** @type {readonly (readonly [string, string])[]} */
const VIEWS = [
  ["charts", "Charts"],
  ["providers", "Providers"],
  ["routes", "Routes"],
  ["calls", "Calls"],
  ["keys", "Client keys"],
  ["privacy", "Privacy"],
  ["state", "State"],
  ["log", "Log"],
  ["try", "Try it"],
];

/**
 * Returns the page.
 * @param {{ feed: Feed, isInUse: boolean }} props
 */
function Page({ feed, isInUse }) {
  const { snapshot } = feed;
  if (snapshot === null) {
    return view`
      <main><p class="waiting" role="status">${
      feed.lostSinceMs === null ? "Connecting to the gateway…" : feed.reason ??
        "The gateway cannot be reached. The page tries again by itself."
    }</p></main>
    `;
  }
  const isUnused = snapshot.finishedCount === 0 && snapshot.runningCount === 0;
  const hasRecords = snapshot.records !== null;
  const hasPrivacy = snapshot.privacy !== null;
  return view`
    <a class="skip" href="#main">Skip to the content</a>
    <${Head} feed="${feed}" snapshot="${snapshot}" views="${
    VIEWS.filter(([id]) => (id !== "log" || hasRecords) && (id !== "privacy" || hasPrivacy))
  }" />
    <main id="main" tabindex="-1" class="${feed.isLive ? "" : "stale"}">
      <${Facts} snapshot="${snapshot}" />
      <${Problems} snapshot="${snapshot}" />
      ${
    isUnused && view`
        <${Empty} snapshot="${snapshot}" />
      `
  }
      <${Charts} feed="${feed}" atMs="${snapshot.atMs}" uptimeMs="${snapshot.uptimeMs}" />
      <${Providers} providers="${snapshot.providers}" />
      <${Routes} routes="${snapshot.routes}" />
      <${Calls} feed="${feed}" snapshot="${snapshot}" isInUse="${isInUse}" />
      <${Keys} keys="${snapshot.keys}" requiresKey="${snapshot.requiresKey}" />
      ${
    hasPrivacy && view`
        <${Privacy} privacy="${snapshot.privacy}" />
      `
  }
      <${State} store="${snapshot.store}" atMs="${snapshot.atMs}" />
      ${
    hasRecords && view`
        <${Log} records="${snapshot.records}" />
      `
  }
      <${TryIt} snapshot="${snapshot}" />
    </main>
  `;
}

let root = /** @type {HTMLElement} */ (document.getElementById("page"));
let feed = NO_FEED;

/** Draws the page. A hidden one is drawn when it is shown again. */
function draw() {
  if (document.hidden) return;
  try {
    render(
      view`
        <${Page} feed="${feed}" isInUse="${isListInUse()}" />
      `,
      root,
    );
  } catch (error) {
    drawOutdated();
    reportError(error);
  }
}

/**
 * Draws what to do if the snapshots are not those of this page: the gateway has another version
 * now.
 */
function drawOutdated() {
  // What an error has left of the page cannot be drawn again.
  const empty = /** @type {HTMLElement} */ (root.cloneNode(false));
  root.replaceWith(empty);
  root = empty;
  render(
    view`<main><p class="waiting" role="status">The gateway has another version than this page. <a href="/">Load the page again.</a></p></main>`,
    root,
  );
}

/** Draws and follows the gateway while the page is shown. */
function showOrHide() {
  // A browser opens six connections to a host for all its pages together: a hidden one must have
  // none.
  if (document.hidden) return following.stop();
  draw();
  following.start();
}

const following = follow((next) => {
  feed = next;
  draw();
});
root.replaceChildren();
document.addEventListener("visibilitychange", showOrHide);
showOrHide();
