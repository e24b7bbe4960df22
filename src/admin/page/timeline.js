// @ts-check
/// <reference lib="dom" />
import { useEffect, useRef } from "preact/hooks";
import { dateAndClock, dollars, duration, whole } from "./format.js";
import { modelOf, Outcome, Target, textIn, wasSent } from "./outcome.js";
import { Badge, Name, Table, view } from "./ui.js";
/** @import { TracedTarget } from "../../observe/report.ts" */
/** @import { AttemptView, FinishedCall } from "../snapshot.ts" */

/** @type {Readonly<Record<string, string>>} */
const CACHE_WORDS = { HIT: "hit", MISS: "miss" };

/**
 * Returns what happened to a finished call: route, targets, attempts, and what came of them.
 * @param {{ call: FinishedCall, onClose: () => void }} props
 */
export function Timeline({ call, onClose }) {
  const title = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => {
    title.current?.focus({ preventScroll: true });
    title.current?.closest("tr")?.scrollIntoView({ block: "nearest" });
  }, []);
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
      view`<${Target} provider=${textIn(access, "provider")} model=${modelOf(call)} />`,
    ],
    ["Requested model", call.requestedModel && view`<${Name} text=${call.requestedModel} />`],
    ["First byte", call.firstByteMs !== null && duration(call.firstByteMs)],
    ["First token", call.firstTokenMs !== null && duration(call.firstTokenMs)],
    ["Total", duration(call.totalMs)],
    ["Waited for a slot", typeof access["queued_ms"] === "number" && duration(access["queued_ms"])],
    ["Cache", CACHE_WORDS[textIn(access, "cache") ?? ""]],
    ["Tokens", tokensText(access)],
    ["Cost", dollars(call.usd)],
    [
      verifiedTitle(call),
      call.verified.length > 0 && call.verified.join(", "),
    ],
    ["Privacy search", call.searchMs !== undefined && duration(call.searchMs)],
    ["Values found", textIn(access, "redacted")],
    ["Values found in the answer", textIn(access, "redacted_out")],
    ["Values restored", numberText(access["restored"])],
    ["Unknown tokens", numberText(access["unknown_tokens"])],
    ["Unread parts", numberText(access["unread"])],
    ["Lossy fields", call.lossy.length > 0 && call.lossy.join(", ")],
  ];
  return view`<section class="panel timeline" id="timeline" aria-labelledby="timeline-title">
    <div class="row"><h3 id="timeline-title" tabindex="-1" ref=${title}>${
    textIn(access, "method")
  } <${Name} text=${textIn(access, "path")} /></h3>
      <button type="button" onClick=${onClose}>Close</button></div>
    <p><${Outcome} call=${call} /> at ${dateAndClock(call.endedAtMs)}</p>
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
 * Returns what became of the promises that the gateway checks: without a complete response there is
 * nothing to check.
 * @param {FinishedCall} call
 */
function verifiedTitle({ failure, code }) {
  if (code === "promise_broken") return "Checked, and broken";
  return failure === null ? "Verified" : "Not verified";
}

/** @param {{ call: FinishedCall }} props */
function Targets({ call }) {
  const { access, targets } = call;
  const attempts = attemptsByTarget(call);
  if (targets.length === 0) {
    // Only a request that continues a stored object has a route without targets: its provider is
    // given.
    return view`<p class="note">${
      textIn(access, "route") === null
        ? "The call was not routed."
        : "No target of the route can continue the stored object."
    }</p>`;
  }
  return view`<h4>Targets</h4>
    <${Table} caption="Targets of the call" columns=${["Target", "Role", "Outcome", "Choice"]}>${
    targets.map((target, at) => {
      const last = attempts.get(target)?.at(-1);
      return view`<tr key=${at}>
        <th scope="row"><${Target} provider=${target.provider} model=${target.model} /></th>
        <td>${target.isFallback ? "fallback" : "target"}</td>
        <td>${
        last !== undefined
          ? view`<${AttemptOutcome} attempt=${last} />`
          : target.isChosen && access["cache"] === "HIT"
          ? "answered from the cache"
          : view`<span class="none">–</span>`
      }</td>
        <td><span class="reason">${
        target.isChosen
          ? "chosen"
          : last !== undefined
          ? "tried"
          : passedText(target, call.failure !== null)
      }</span></td>
      </tr>`;
    })
  }<//>`;
}

/**
 * Returns the attempts at each target. An attempt at the provider and model of the one before it is
 * a retry.
 * @param {FinishedCall} call
 * @returns {ReadonlyMap<TracedTarget, readonly AttemptView[]>}
 */
function attemptsByTarget({ targets, attempts }) {
  /** @type {Map<TracedTarget, AttemptView[]>} */
  const found = new Map();
  let last = targets.find(({ isChosen }) => isChosen);
  for (const attempt of attempts) {
    /** @param {TracedTarget | undefined} one */
    const isAt = (one) => one?.provider === attempt.provider && one.model === attempt.model;
    if (!isAt(last)) {
      last = targets.find((one) =>
        one.isFallback && one.skipped === null && !found.has(one) && isAt(one)
      );
    }
    if (last !== undefined) found.set(last, [...found.get(last) ?? [], attempt]);
  }
  return found;
}

/**
 * @param {TracedTarget} target
 * @param {boolean} hasFailed
 */
function passedText({ skipped, isFallback }, hasFailed) {
  if (skipped !== null) return `passed over: ${skipped}`;
  if (!isFallback) return "able, but another one was picked";
  return hasFailed ? "not tried: the call ended before" : "not needed";
}

/** @param {{ attempt: AttemptView }} props */
function AttemptOutcome({ attempt }) {
  const { outcome } = attempt;
  return wasSent(attempt)
    ? view`<${Badge} tone=${outcome === "success" ? "good" : "bad"}>${outcome}<//>`
    : view`<${Badge} tone="unsent">not sent<//> <code>${outcome}</code>`;
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
  let sent = 0;
  return view`<h4>${attempts.some(wasSent) ? "Attempts" : "No attempt was sent"}</h4>
    <${Table} caption="Attempts of the call" columns=${columns}>${
    attempts.map((attempt, at) =>
      view`<tr key=${at}>
        <th scope="row">${
        wasSent(attempt) ? `${whole(++sent)}. ` : ""
      }<${Target} provider=${attempt.provider} model=${attempt.model} /></th>
        ${hasKeys && view`<td><${Name} text=${attempt.key} /></td>`}
        <td><${AttemptOutcome} attempt=${attempt} /></td>
        <td class="number">${duration(attempt.beganMs)}</td>
        <td class="number">${duration(attempt.endedMs)}</td>
        <td class="number">${duration(attempt.endedMs - attempt.beganMs)}</td>
        <td class="gantt">${
        wasSent(attempt) && view`<${Span} attempt=${attempt} totalMs=${totalMs} />`
      }</td>
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

/**
 * Returns a number of the access line; null if it has none.
 * @param {unknown} value
 */
function numberText(value) {
  return typeof value === "number" ? whole(value) : null;
}

/** @param {FinishedCall["access"]} access */
export function tokensText({ tokens_in: input, tokens_out: output, tokens_estimated: guessed }) {
  if (typeof input !== "number" && typeof output !== "number") return "–";
  return `${guessed === true ? "about " : ""}${whole(Number(input ?? 0))} in, ${
    whole(Number(output ?? 0))
  } out`;
}
