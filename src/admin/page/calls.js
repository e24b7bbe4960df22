// @ts-check
import { Finished } from "./finished.js";
import { counted, duration, whole } from "./format.js";
import { Target } from "./outcome.js";
import { Badge, EmptyRow, kept, Name, Section, Table, view } from "./ui.js";
/** @import { Feed } from "./feed.js" */
/** @import { RunningCall, Snapshot } from "../snapshot.ts" */

const RUNNING = [
  "Provider and model",
  "#For",
  "Phase",
  "Route",
  "Client",
  "Endpoint",
  "#Records",
  "#Attempts",
];

/** Row of a running call, drawn again when its data changed. */
const RunningRow = kept(runningRow);

/**
 * Returns the calls in flight and the last finished ones.
 * @param {{ feed: Feed, snapshot: Snapshot, isInUse: boolean }} props
 */
export function Calls({ feed, snapshot: { running, runningCount, finishedCount }, isInUse }) {
  return view`<${Section} id="calls" title="Calls">
    <h3>Running <span class="note">${runningText(runningCount, running.length)}</span></h3>
    <${Table} caption="Running calls" columns=${RUNNING}>
      ${running.map((call) => view`<${RunningRow} key=${call.id} call=${call} />`)}
      ${
    running.length === 0 && view`<${EmptyRow} columns=${RUNNING.length}>No call is running.<//>`
  }
    <//>
    <${Finished} feed=${feed} finishedCount=${finishedCount} isInUse=${isInUse} />
  <//>`;
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
    <th scope="row"><${Target} provider=${call.provider} model=${call.model} /></th>
    <td class="number">${duration(call.ageMs)}</td>
    <td><${Badge} tone="quiet">${call.phase}<//></td>
    <td><${Name} text=${call.route} /></td>
    <td><${Name} text=${call.client} /></td>
    <td><${Name} text=${call.path} /></td>
    <td class="number">${whole(call.records)}</td>
    <td class="number">${whole(call.tries)}</td>
  </tr>`;
}
