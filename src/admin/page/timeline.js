// @ts-check
/// <reference lib="dom" />
import { useEffect, useRef } from "preact/hooks";
import { End, Target, textIn, tokensText } from "./calls.js";
import { dateAndClock, dollars, duration } from "./format.js";
import { Badge, Name, Table, view } from "./ui.js";
/** @import { AttemptView, FinishedCall, PassedTarget } from "../snapshot.ts" */

/**
 * Returns what happened to a finished call: route, targets, attempts, and what came of them.
 * @param {{ call: FinishedCall, onClose: () => void }} props
 */
export function Timeline({ call, onClose }) {
  const title = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => title.current?.focus(), []);
  const { access } = call;
  /** @type {(readonly [string, any])[]} */
  const facts = [
    ["Request ID", textIn(access, "request_id")],
    ["Client", textIn(access, "client")],
    ["Session", textIn(access, "session")],
    ["Route", textIn(access, "route")],
    [
      call.failure === null ? "Served by" : "Last target",
      textIn(access, "provider") &&
      view`<${Target} provider=${textIn(access, "provider")} model=${textIn(access, "model")} />`,
    ],
    ["First byte", call.firstByteMs !== null && duration(call.firstByteMs)],
    ["First token", call.firstTokenMs !== null && duration(call.firstTokenMs)],
    ["Total", duration(call.totalMs)],
    ["Waited for a slot", typeof access["queued_ms"] === "number" && duration(access["queued_ms"])],
    ["Cache", textIn(access, "cache")],
    ["Tokens", tokensText(access)],
    ["Cost", dollars(call.usd)],
    [
      verifiedTitle(call),
      call.verified.length > 0 && call.verified.join(", "),
    ],
    ["Lossy fields", call.lossy.length > 0 && call.lossy.join(", ")],
  ];
  return view`<section class="panel timeline" id="timeline" aria-labelledby="timeline-title">
    <div class="row"><h3 id="timeline-title" tabindex="-1" ref=${title}>${
    textIn(access, "method")
  } <${Name} text=${textIn(access, "path")} /></h3>
      <button type="button" onClick=${onClose}>Close</button></div>
    <p><${End} end=${textIn(access, "end")} status=${access["status"]} /> at ${
    dateAndClock(call.endedAtMs)
  }</p>
    ${call.failure !== null && view`<p class="trouble">${call.failure}</p>`}
    <dl>${
    facts.filter(([, value]) => value).map(([name, value]) =>
      view`<div><dt>${name}</dt><dd>${value}</dd></div>`
    )
  }</dl>
    <${Targets} call=${call} />
    <${Attempts} attempts=${call.attempts} totalMs=${call.totalMs} />
    <details><summary>Access line</summary><${Table} caption="Fields of the access line" columns=${[
    "Field",
    "Value",
  ]}>${
    Object.entries(access).map(([name, value]) =>
      view`<tr key=${name}><th scope="row"><code>${name}</code></th><td><${Name} text=${
        String(value)
      } /></td></tr>`
    )
  }<//></details>
  </section>`;
}

/**
 * Returns what became of the promises that the gateway checks: without a complete response there is nothing
 * to check.
 * @param {FinishedCall} call
 */
function verifiedTitle({ failure, isPromiseBroken }) {
  if (isPromiseBroken) return "Checked, and broken";
  return failure === null ? "Verified" : "Not verified";
}

/** @param {{ call: FinishedCall }} props */
function Targets({ call }) {
  const { access, targets } = call;
  const tried = triedFallbacks(call);
  if (targets.length === 0) {
    // Only a request that continues a stored object has a route without targets: its provider is given.
    return view`<p class="note">${
      textIn(access, "route") === null
        ? "The call was not routed."
        : "No target of the route can continue the stored object."
    }</p>`;
  }
  return view`<h4>Targets</h4>
    <${Table} caption="Targets of the call" columns=${["Target", "Role", "Choice"]}>${
    targets.map((target, at) =>
      view`<tr key=${at}>
        <th scope="row"><${Target} provider=${target.provider} model=${target.model} /></th>
        <td>${target.isFallback ? "fallback" : "target"}</td>
        <td>${
        target.isChosen
          ? view`<${Badge} tone="good">chosen<//>`
          : tried.has(target)
          ? view`<${Badge} tone="good">tried<//>`
          : view`<span class="reason">${passedText(target, call.failure !== null)}</span>`
      }</td>
      </tr>`
    )
  }<//>`;
}

/**
 * Returns the fallbacks that an attempt was made at. An attempt at the provider and model of the one before it
 * is a retry.
 * @param {FinishedCall} call
 * @returns {ReadonlySet<PassedTarget>}
 */
function triedFallbacks({ targets, attempts }) {
  /** @type {Set<PassedTarget>} */
  const tried = new Set();
  let last = targets.find(({ isChosen }) => isChosen);
  for (const attempt of attempts) {
    /** @param {PassedTarget | undefined} one */
    const isAt = (one) => one?.provider === attempt.provider && one.model === attempt.model;
    if (isAt(last)) continue;
    last = targets.find((one) =>
      one.isFallback && one.skipped === null && !tried.has(one) && isAt(one)
    );
    if (last !== undefined) tried.add(last);
  }
  return tried;
}

/**
 * @param {PassedTarget} target
 * @param {boolean} hasFailed
 */
function passedText({ skipped, isFallback }, hasFailed) {
  if (skipped !== null) return `passed over: ${skipped}`;
  if (!isFallback) return "able, but another one was picked";
  return hasFailed ? "not tried: the call ended before" : "not needed";
}

/** @param {{ attempts: readonly AttemptView[], totalMs: number }} props */
function Attempts({ attempts, totalMs }) {
  if (attempts.length === 0) return view`<p class="note">No attempt was sent.</p>`;
  const hasKeys = attempts.some(({ key }) => key !== null);
  const columns = [
    "Attempt",
    ...hasKeys ? ["Key"] : [],
    "Outcome",
    "#Start",
    "#End",
    "#Took",
    "Time",
  ];
  return view`<h4>Attempts</h4>
    <${Table} caption="Attempts of the call" columns=${columns}>${
    attempts.map((attempt, at) =>
      view`<tr key=${at}>
        <th scope="row">${
        at + 1
      }. <${Target} provider=${attempt.provider} model=${attempt.model} /></th>
        ${hasKeys && view`<td><${Name} text=${attempt.key} /></td>`}
        <td><${Badge} tone=${
        attempt.outcome === "success" ? "good" : "bad"
      }>${attempt.outcome}<//></td>
        <td class="number">${duration(attempt.beganMs)}</td>
        <td class="number">${duration(attempt.endedMs)}</td>
        <td class="number">${duration(attempt.endedMs - attempt.beganMs)}</td>
        <td class="gantt"><${Span} attempt=${attempt} totalMs=${totalMs} /></td>
      </tr>`
    )
  }<//>`;
}

/** @param {{ attempt: AttemptView, totalMs: number }} props */
function Span({ attempt: { beganMs, endedMs, outcome }, totalMs }) {
  const whole = Math.max(totalMs, endedMs, 1);
  const start = (beganMs / whole) * 100;
  return view`<svg class="bar gantt ${
    outcome === "success" ? "good" : "bad"
  }" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
    <rect class="track" width="100" height="6" />
    <rect class="fill" x=${start} width=${
    Math.max(((endedMs - beganMs) / whole) * 100, 0.8)
  } height="6" />
  </svg>`;
}
