// @ts-check
/// <reference lib="dom" />
import { useCallback, useRef, useState } from "preact/hooks";
import { clock, counted, dollars, duration, whole } from "./format.js";
import { Timeline } from "./timeline.js";
import { Badge, EmptyRow, kept, Name, Section, Table, view } from "./ui.js";
/** @import { Feed } from "./feed.js" */
/** @import { FinishedCall, RunningCall, Snapshot } from "../snapshot.ts" */

const RUNNING = [
  "Endpoint",
  "Client",
  "Route",
  "Provider and model",
  "#For",
  "Phase",
  "#Records",
  "#Attempts",
];
const FINISHED = [
  "Ended at",
  "End",
  "Endpoint",
  "Client",
  "Provider and model",
  "#First token",
  "#Total",
  "#Tokens",
  "#Cost",
];

/** Row of a running call, drawn again when its data changed. */
const RunningRow = kept(runningRow);
/** Row of a finished call, whose data never changes. */
const FinishedRow = kept(finishedRow);

/**
 * Returns the calls in flight and the last finished ones, with the timeline of the selected one.
 * @param {{ feed: Feed, snapshot: Snapshot, isInUse: boolean }} props
 */
export function Calls({ feed, snapshot: { running, runningCount, finishedCount }, isInUse }) {
  const [held, setHeld] = useState(/** @type {FinishedCall[] | null} */ (null));
  const [selected, setSelected] = useState(/** @type {FinishedCall | null} */ (null));
  const opener = useRef(/** @type {HTMLElement | null} */ (null));
  const steady = useRef(feed.finished);
  // A row that leaves the list would take the focus or the selected text with it.
  if (!isInUse) steady.current = feed.finished;
  const finished = held ?? steady.current;

  const select = useCallback(
    /**
     * @param {FinishedCall} call
     * @param {Event} event
     */
    (call, event) => {
      opener.current = /** @type {HTMLElement} */ (event.currentTarget);
      setSelected((before) => isSame(call, before) ? null : call);
    },
    [],
  );

  function close() {
    setSelected(null);
    const row = opener.current;
    // A row that has left the list since cannot take the focus, which would be lost with the button.
    const list =
      /** @type {HTMLElement | null | undefined} */ (listElement()?.querySelector(".scroll"));
    (row?.isConnected ? row : list)?.focus();
  }

  return view`<${Section} id="calls" title="Calls">
    <h3>Running <span class="note">${runningText(runningCount, running.length)}</span></h3>
    <${Table} caption="Running calls" columns=${RUNNING}>
      ${running.map((call) => view`<${RunningRow} key=${call.id} call=${call} />`)}
      ${
    running.length === 0 && view`<${EmptyRow} columns=${RUNNING.length}>No call is running.<//>`
  }
    <//>
    <div class="row"><h3>Finished <span class="note">the newest ${whole(finished.length)} of ${
    whole(finishedCount)
  }${
    isInUse && held === null && "; does not move while it has the focus or selected text"
  }</span></h3>
      <button type="button" aria-pressed=${held !== null} onClick=${() =>
    setHeld(held === null ? finished : null)}>Hold the list</button>
    </div>
    <div id="finished"><${Table} caption="Finished calls" columns=${FINISHED}>
      ${
    finished.map((call) =>
      view`<${FinishedRow} key=${`${call.number} ${call.endedAtMs}`} call=${call} isSelected=${
        isSame(call, selected)
      } onSelect=${select} />`
    )
  }
      ${
    finished.length === 0 &&
    view`<${EmptyRow} columns=${FINISHED.length}>No call has finished yet.<//>`
  }
    <//></div>
    ${
    selected !== null &&
    view`<${Timeline} key=${`${selected.number} ${selected.endedAtMs}`} call=${selected} onClose=${close} />`
  }
  <//>`;
}

/**
 * True if two finished calls are the same one. A gateway that starts again counts from 1 again.
 * @param {FinishedCall} call
 * @param {FinishedCall | null} other
 */
function isSame(call, other) {
  return call.number === other?.number && call.endedAtMs === other.endedAtMs;
}

/** Returns the place of the list of finished calls. */
function listElement() {
  return document.getElementById("finished");
}

/**
 * True if a finished call has the focus, or text of the list is selected. The browser answers this
 * from a layout of the page: it is read before a snapshot is drawn, which would make another one
 * necessary.
 */
export function isListInUse() {
  const list = listElement();
  if (list === null) return false;
  if (document.activeElement?.closest("tr") && list.contains(document.activeElement)) return true;
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(list, true);
}

/**
 * @param {number} count
 * @param {number} shown
 */
function runningText(count, shown) {
  return count > shown
    ? `the newest ${shown} of ${counted(count, "call")}`
    : counted(count, "call");
}

/** @param {{ call: RunningCall }} props */
function runningRow({ call }) {
  return view`<tr>
    <td><${Name} text=${call.path} /></td>
    <td><${Name} text=${call.client} /></td>
    <td><${Name} text=${call.route} /></td>
    <td><${Target} provider=${call.provider} model=${call.model} /></td>
    <td class="number">${duration(call.ageMs)}</td>
    <td><${Badge} tone=${call.phase === "waiting" ? "quiet" : "good"}>${call.phase}<//></td>
    <td class="number">${whole(call.records)}</td>
    <td class="number">${whole(call.tries)}</td>
  </tr>`;
}

/** @param {{ call: FinishedCall, isSelected: boolean, onSelect: (call: FinishedCall, event: Event) => void }} props */
function finishedRow({ call, isSelected, onSelect }) {
  const { access } = call;
  return view`<tr class=${isSelected ? "selected" : ""}>
    <th scope="row"><button type="button" class="link" aria-expanded=${isSelected} aria-label="Timeline of call ${call.number}, ended at ${
    clock(call.endedAtMs)
  }" onClick=${/** @param {Event} event */ (event) => onSelect(call, event)}>${
    clock(call.endedAtMs)
  }</button></th>
    <td><${End} end=${textIn(access, "end")} status=${access["status"]} /></td>
    <td><${Name} text=${textIn(access, "path")} /></td>
    <td><${Name} text=${textIn(access, "client")} /></td>
    <td><${Target} provider=${textIn(access, "provider")} model=${textIn(access, "model")} /></td>
    <td class="number">${duration(call.firstTokenMs)}</td>
    <td class="number">${duration(call.totalMs)}</td>
    <td class="number">${tokensText(access)}</td>
    <td class="number">${dollars(call.usd)}</td>
  </tr>`;
}

/** @param {{ end: string | null, status: unknown }} props */
export function End({ end, status }) {
  const tone = end === "complete" ? "good" : end === "client_gone" ? "quiet" : "bad";
  return view`<${Badge} tone=${tone}>${end ?? "unknown"}<//> <span class="note">${
    typeof status === "number" ? status : ""
  }</span>`;
}

/** @param {{ provider: string | null, model: string | null }} props */
export function Target({ provider, model }) {
  if (provider === null) return view`<span class="none">–</span>`;
  return view`<${Name} text=${provider} />${
    model !== null && view`<span class="slash">/</span><${Name} text=${model} />`
  }`;
}

/**
 * Returns a text field of the access line.
 * @param {FinishedCall["access"]} access
 * @param {string} name
 */
export function textIn(access, name) {
  const value = access[name];
  return typeof value === "string" ? value : null;
}

/** @param {FinishedCall["access"]} access */
export function tokensText({ tokens_in: input, tokens_out: output, tokens_estimated: guessed }) {
  if (typeof input !== "number" && typeof output !== "number") return "–";
  return `${guessed === true ? "about " : ""}${whole(Number(input ?? 0))} in, ${
    whole(Number(output ?? 0))
  } out`;
}
