// @ts-check
/// <reference lib="dom" />
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { FilterForm, isFiltered, isMatch, NO_FILTERS } from "./filters.js";
import { clock, counted, dollars, duration, whole } from "./format.js";
import { marksOf, modelOf, Outcome, Target, textIn } from "./outcome.js";
import { Timeline, tokensText } from "./timeline.js";
import { EmptyRow, kept, Name, Table, view } from "./ui.js";
/** @import { Feed } from "./feed.js" */
/** @import { Filters } from "./filters.js" */
/** @import { FinishedCall } from "../snapshot.ts" */

/** Maximum number of rows. */
const MAX_ROWS = 100;

const NARROW = matchMedia("(max-width: 640px)");

/** A finger leaves the last place that it has touched as the place of the pointer. */
let isTouch = false;
document.addEventListener("pointerover", ({ pointerType }) => isTouch = pointerType === "touch");

/**
 * A column: its title, and its cell of a call.
 * @typedef {readonly [string, (call: FinishedCall, isSelected: boolean) => any]} Column
 */

const { time, outcome, target, route, client, path, firstToken, total, tokens, cost } =
  /** @satisfies {Record<string, Column>} */ ({
    time: ["Ended at", timeCell],
    outcome: ["Outcome", (call) => view`<td><${Outcome} call=${call} /></td>`],
    target: ["Provider and model", targetCell],
    route: ["Route", ({ access }) => nameCell(textIn(access, "route"))],
    client: ["Client", ({ access }) => nameCell(textIn(access, "client"))],
    path: ["Endpoint", ({ access }) => nameCell(textIn(access, "path"))],
    firstToken: ["#First token", (call) => numberCell(duration(call.firstTokenMs))],
    total: ["#Total", (call) => numberCell(duration(call.totalMs))],
    tokens: ["#Tokens", ({ access }) => numberCell(tokensText(access))],
    cost: ["#Cost", (call) => numberCell(dollars(call.usd))],
  });

/** @type {readonly Column[]} */
const WIDE_ORDER = [
  time,
  outcome,
  target,
  route,
  client,
  path,
  firstToken,
  total,
  tokens,
  cost,
];
/**
 * A narrow screen shows three columns without a scroll.
 * @type {readonly Column[]}
 */
const NARROW_ORDER = [
  target,
  total,
  outcome,
  time,
  client,
  route,
  firstToken,
  tokens,
  cost,
  path,
];

/** Row of a finished call, whose data never changes. */
const FinishedRow = kept(finishedRow);

/**
 * Returns the finished calls with their filters, and the timeline of the selected one under its
 * row.
 * @param {{ feed: Feed, finishedCount: number, isInUse: boolean }} props
 */
export function Finished({ feed, finishedCount, isInUse }) {
  const [held, setHeld] = useState(/** @type {FinishedCall[] | null} */ (null));
  const [selected, setSelected] = useState(/** @type {FinishedCall | null} */ (null));
  const [filters, setFilters] = useState(/** @type {Filters} */ (NO_FILTERS));
  const isNarrow = useMatch(NARROW);
  const steady = useRef(feed.finished), drawn = useRef(feed);
  // A row that leaves the list would take the focus, the selected text or the click with it.
  const isStill = held !== null || isInUse || selected !== null;
  // Only a snapshot moves the list: a call that is closed gives the focus back to its row.
  if (!isStill && drawn.current !== feed) steady.current = feed.finished;
  drawn.current = feed;
  const stored = held ?? steady.current;
  const rows = useMemo(
    () => stored.filter((one) => isSame(one, selected) || isMatch(one, filters)).slice(0, MAX_ROWS),
    [stored, selected, filters],
  );

  const select = useCallback(
    /**
     * @param {FinishedCall} call
     * @param {MouseEvent} event
     */
    (call, event) => {
      // A person who selects the text of a row ends with a click on it.
      if (hasSelectedText(/** @type {HTMLElement} */ (event.currentTarget))) return;
      setSelected((before) => isSame(call, before) ? null : call);
    },
    [],
  );

  const close = useCallback(() => {
    const row = listElement()?.querySelector("tr.selected button");
    /** @type {HTMLElement | null | undefined} */ (row)?.focus();
    setSelected(null);
  }, []);

  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const onKey = ({ key }) => key === "Escape" && close();
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  const columns = isNarrow ? NARROW_ORDER : WIDE_ORDER;
  const newer = finishedCount - (stored[0]?.number ?? finishedCount);
  return view`<div class="row"><h3>Finished <span class="note">${
    isFiltered(filters)
      ? `${counted(rows.length, "stored call")} of ${whole(finishedCount)}`
      : `the newest ${whole(rows.length)} of ${whole(finishedCount)}`
  }${
    isStill && `; holds still while you read it${newer > 0 ? `, ${whole(newer)} newer` : ""}`
  }</span></h3>
      <button type="button" aria-pressed=${held !== null} onClick=${() =>
    setHeld(held === null ? stored : null)}>Hold the list</button>
    </div>
    <${FilterForm} calls=${stored} filters=${filters} onChange=${setFilters} />
    <div id="finished"><${Table} caption="Finished calls" columns=${
    columns.map(([title]) => title)
  }>
      ${
    rows.flatMap((call) => {
      const isSelected = isSame(call, selected);
      const key = `${call.number} ${call.endedAtMs}`;
      const row =
        view`<${FinishedRow} key=${key} call=${call} columns=${columns} isSelected=${isSelected} onSelect=${select} />`;
      return isSelected
        ? [
          row,
          view`<tr key="${key} timeline" class="detail"><td colspan=${columns.length}><${Timeline} call=${call} onClose=${close} /></td></tr>`,
        ]
        : [row];
    })
  }
      ${
    rows.length === 0 &&
    view`<${EmptyRow} columns=${columns.length}>${
      finishedCount === 0
        ? "No call has finished yet."
        : "No stored call matches. The gateway stores the last 100 calls, and the last 100 of those that failed, were slow, were not sent, or were refused."
    }<//>`
  }
    <//></div>`;
}

/**
 * True while a media query matches.
 * @param {MediaQueryList} query
 */
function useMatch(query) {
  const [isMatching, setMatching] = useState(query.matches);
  useEffect(() => {
    const change = () => setMatching(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, []);
  return isMatching;
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
 * True if text of an element is selected.
 * @param {HTMLElement} element
 */
function hasSelectedText(element) {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}

/**
 * True if the pointer is over the list of finished calls, a call has the focus, or text of the list
 * is selected. The browser answers this from a layout of the page: it is read before a snapshot is
 * drawn, which would make another one necessary.
 */
export function isListInUse() {
  const list = listElement();
  if (list === null) return false;
  if (!isTouch && list.matches(":hover")) return true;
  if (document.activeElement?.closest("tr") && list.contains(document.activeElement)) return true;
  return hasSelectedText(list);
}

/**
 * @param {{ call: FinishedCall, columns: readonly Column[], isSelected: boolean, onSelect: (call: FinishedCall, event: MouseEvent) => void }} props
 */
function finishedRow({ call, columns, isSelected, onSelect }) {
  return view`<tr class="call ${
    isSelected ? "selected" : ""
  }" onClick=${/** @param {MouseEvent} event */ (event) => onSelect(call, event)}>${
    columns.map(([, cell]) => cell(call, isSelected))
  }</tr>`;
}

/**
 * @param {FinishedCall} call
 * @param {boolean} isSelected
 */
function timeCell({ number, endedAtMs }, isSelected) {
  const ended = clock(endedAtMs);
  return view`<td><button type="button" class="link" aria-expanded=${isSelected} aria-label="Timeline of call ${number}, ended at ${ended}">${ended}</button></td>`;
}

/** @param {FinishedCall} call */
function targetCell(call) {
  const marks = marksOf(call);
  return view`<th scope="row"><${Target} provider=${textIn(call.access, "provider")} model=${
    modelOf(call)
  } />${
    marks.length > 0 &&
    view`<span class="marks">${
      marks.map((mark) => view`<span class="mark">${mark}</span> `)
    }</span>`
  }</th>`;
}

/** @param {string | null} text */
function nameCell(text) {
  return view`<td><${Name} text=${text} /></td>`;
}

/** @param {string} text */
function numberCell(text) {
  return view`<td class="number">${text}</td>`;
}
