// @ts-check
/// <reference lib="dom" />
import { useRef } from "preact/hooks";
import { clock, counted, dateAndClock, duration } from "./format.js";
import { curlText, firstModel, gatewayUrl } from "./curl.js";
import { Badge, Name, NoModelNote, view } from "./ui.js";
/** @import { Feed } from "./feed.js" */
/** @import { Snapshot } from "../snapshot.ts" */

/**
 * Returns the bar that stays in sight: whether the page is up to date, what is wrong, and its
 * views.
 * @param {{ feed: Feed, snapshot: Snapshot, views: readonly (readonly [string, string])[] }} props
 */
export function Head({ feed, snapshot, views }) {
  return view`<header>
    <div class="head"><h1>Switchyard</h1>
      <${Status} feed=${feed} snapshot=${snapshot} />
      <nav aria-label="Views"><ul>${
    views.map(([id, title]) => view`<li key=${id}><a href="#${id}">${title}</a></li>`)
  }</ul></nav>
    </div>
  </header>`;
}

/**
 * Returns which process this is.
 * @param {{ snapshot: Snapshot }} props
 */
export function Facts({ snapshot }) {
  const { version, uptimeMs, generation, store, runningCount } = snapshot;
  return view`<dl id="facts">
    <div><dt>Version</dt><dd>${version}</dd></div>
    <div><dt>Up for</dt><dd>${duration(uptimeMs)}</dd></div>
    <div><dt>Configuration</dt><dd>generation ${generation}</dd></div>
    <div><dt>State store</dt><dd>${storeText(store)}</dd></div>
    <div><dt>Running</dt><dd>${counted(runningCount, "call")}</dd></div>
  </dl>`;
}

/**
 * Returns the state in words that change rarely, because a screen reader reads each change.
 * @param {{ feed: Feed, snapshot: Snapshot }} props
 */
function Status({ feed, snapshot }) {
  const { isDraining, refusedReload, store, version } = snapshot;
  const loaded = useRef(snapshot).current;
  const isOutdated = version !== loaded.version || snapshot.gatewayUrl !== loaded.gatewayUrl;
  const reason = feed.reason ?? "The page connects again by itself.";
  return view`<p class="status" role="status" aria-live="polite">
    ${
    feed.isLive
      ? view`<${Badge} tone="good">live<//>`
      : view`<${Badge} tone="bad">connection lost<//> <span>since ${
        clock(feed.lostSinceMs ?? 0)
      }. ${reason}</span>`
  }
    ${
    isOutdated &&
    view`<${Badge} tone="warn">the gateway has another version or address<//> <a href="/">Load the page again.</a>`
  }
    ${isDraining && view`<${Badge} tone="warn">draining: the gateway shuts down<//>`}
    ${
    refusedReload !== null &&
    view`<a href="#problems"><${Badge} tone="bad">reload refused<//></a>`
  }
    ${!store.isUp && view`<${Badge} tone="bad">state store away<//>`}
  </p>`;
}

/** @param {Snapshot["store"]} store */
function storeText({ engine, isUp, pingMs, awaySinceMs }) {
  if (!isUp) return `${engine}, away${awaySinceMs === null ? "" : ` since ${clock(awaySinceMs)}`}`;
  return pingMs === null ? engine : `${engine}, answers in ${duration(pingMs)}`;
}

/**
 * Returns the problems of the refused configuration and the warnings of the running one.
 * @param {{ snapshot: Snapshot }} props
 */
export function Problems({ snapshot: { refusedReload, warnings, generation } }) {
  return view`
    ${
    refusedReload !== null &&
    view`<section class="panel bad" id="problems" aria-labelledby="problems-title">
      <h2 id="problems-title">The changed configuration was refused</h2>
      <p>At ${
      dateAndClock(refusedReload.atMs)
    }. The gateway still runs with generation ${generation}. Correct the file: the next reload clears this.</p>
      <ul class="lines">${refusedReload.lines.map((line) => view`<li>${line}</li>`)}</ul>
    </section>`
  }
    ${
    warnings.length > 0 &&
    view`<section class="panel warn" id="warnings" aria-labelledby="warnings-title">
      <h2 id="warnings-title">${
      counted(warnings.length, "warning")
    } of the running configuration</h2>
      <ul class="lines">${warnings.map((line) => view`<li>${line}</li>`)}</ul>
    </section>`
  }`;
}

/**
 * Returns what to do with a gateway that has served no call yet.
 * @param {{ snapshot: Snapshot }} props
 */
export function Empty({ snapshot }) {
  const { providers, routes } = snapshot;
  if (providers.length === 0 || routes.length === 0) {
    return view`<section class="panel" id="empty" aria-labelledby="empty-title">
      <h2 id="empty-title">This gateway has no ${
      providers.length === 0 ? "provider" : "route"
    } yet</h2>
      <p>Add one under <code>${
      providers.length === 0 ? "providers" : "routing.routes"
    }</code> in the configuration. The gateway loads the changed file, and this page shows it or its problems.</p>
    </section>`;
  }
  const model = firstModel(snapshot);
  return view`<section class="panel" id="empty" aria-labelledby="empty-title">
    <h2 id="empty-title">No call yet</h2>
    <p>The gateway listens at <${Name} text=${
    gatewayUrl(snapshot, location)
  } />. Send the first call from a shell, or with <a href="#try">Try it</a>:</p>
    <pre tabindex="0" role="region" aria-label="First call with curl"><code>${
    curlText({
      url: gatewayUrl(snapshot, location),
      keyHeader: snapshot.requiresKey ? snapshot.keyHeader : null,
      body: {
        model,
        messages: [{ role: "user", content: "Say hello." }],
      },
    })
  }</code></pre>
    <${NoModelNote} snapshot=${snapshot} model=${model} />
    ${
    snapshot.requiresKey &&
    view`<p>Put a client key into <code>SWITCHYARD_KEY</code> first. <code>switchyard key new NAME</code> makes one.</p>`
  }
  </section>`;
}
