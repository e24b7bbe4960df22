// @ts-check
import { clock, counted, duration, size, whole } from "./format.js";
import { Badge, EmptyRow, Section, Table, view } from "./ui.js";
/** @import { StoreView } from "../snapshot.ts" */

const COLUMNS = ["Stored", "#Entries", "#Size"];

/**
 * Returns the state store: engine, health and content.
 * @param {{ store: StoreView, atMs: number }} props
 */
export function State({ store, atMs }) {
  const { engine, isUp, awaySinceMs, pingMs, pendingWrites, objects } = store;
  return view`<${Section} id="state" title="State">
    <dl>
      <div><dt>Engine</dt><dd>${engine}</dd></div>
      <div><dt>Health</dt><dd>${
    isUp
      ? view`<${Badge} tone="good">up<//>`
      : view`<${Badge} tone="bad">away<//>${
        awaySinceMs !== null &&
        view` for ${duration(atMs - awaySinceMs)}, since ${clock(awaySinceMs)}`
      }`
  }</dd></div>
      ${isUp && pingMs !== null && view`<div><dt>Answers in</dt><dd>${duration(pingMs)}</dd></div>`}
      <div><dt>Waiting to be written</dt><dd>${counted(pendingWrites, "write")}</dd></div>
    </dl>
    <${Table} caption=${
    isUp ? "Stored objects" : "Stored objects when the store last answered"
  } columns=${COLUMNS}>
      ${
    objects.map(({ name, entries, bytes }) =>
      view`<tr key=${name}><th scope="row">${name}</th><td class="number">${
        whole(entries)
      }</td><td class="number">${size(bytes)}</td></tr>`
    )
  }
      ${objects.length === 0 && view`<${EmptyRow} columns=${COLUMNS.length}>Nothing is stored.<//>`}
    <//>
  <//>`;
}
