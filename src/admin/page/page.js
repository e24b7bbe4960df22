// @ts-check
/// <reference lib="dom" />
import { render } from "preact";
import { Calls, isListInUse } from "./calls.js";
import { Charts } from "./charts.js";
import { follow, NO_FEED } from "./feed.js";
import { Empty, Head, Problems } from "./head.js";
import { Keys } from "./keys.js";
import { Providers } from "./providers.js";
import { Routes } from "./routes.js";
import { State } from "./state.js";
import { TryIt } from "./try.js";
import { view } from "./ui.js";
/** @import { Feed } from "./feed.js" */

const VIEWS = [
  ["charts", "Charts"],
  ["providers", "Providers"],
  ["routes", "Routes"],
  ["calls", "Calls"],
  ["keys", "Client keys"],
  ["state", "State"],
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
  return view`
    <a class="skip" href="#main">Skip to the content</a>
    <${Head} feed="${feed}" snapshot="${snapshot}" />
    <nav aria-label="Views"><ul>${
    VIEWS.map(([id, title]) =>
      view`
        <li key="${id}"><a href="#${id}">${title}</a></li>
      `
    )
  }</ul></nav>
    <main id="main" tabindex="-1" class="${feed.isLive ? "" : "stale"}">
      <${Problems} snapshot="${snapshot}" />
      ${
    isUnused && view`
        <${Empty} snapshot="${snapshot}" />
      `
  }
      <${Charts} feed="${feed}" atMs="${snapshot.atMs}" />
      <${Providers} providers="${snapshot.providers}" />
      <${Routes} routes="${snapshot.routes}" />
      <${Calls} feed="${feed}" snapshot="${snapshot}" isInUse="${isInUse}" />
      <${Keys} keys="${snapshot.keys}" requiresKey="${snapshot.requiresKey}" />
      <${State} store="${snapshot.store}" atMs="${snapshot.atMs}" />
      <${TryIt} snapshot="${snapshot}" />
    </main>
  `;
}

const root = /** @type {HTMLElement} */ (document.getElementById("page"));
let feed = NO_FEED;

/** Draws the page. A hidden one is drawn when it is shown again. */
function draw() {
  if (!document.hidden) {
    render(
      view`
        <${Page} feed="${feed}" isInUse="${isListInUse()}" />
      `,
      root,
    );
  }
}

root.replaceChildren();
document.addEventListener("visibilitychange", draw);
draw();
follow((next) => {
  feed = next;
  draw();
});
