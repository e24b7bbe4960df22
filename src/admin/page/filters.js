// @ts-check
/// <reference lib="dom" />
import { useMemo } from "preact/hooks";
import { markOf } from "./feed.js";
import { modelOf, textIn } from "./outcome.js";
import { view } from "./ui.js";
import { cut } from "./visible.js";
/** @import { FinishedCall } from "../snapshot.ts" */

/**
 * Texts that a call must have, by the name of their field; `kind` is one of the kinds.
 * @typedef {Readonly<Record<string, string>>} Filters
 */

/** Kinds of calls whose last hundred are stored, whatever the rate of all calls. */
const KINDS = [
  ["", "all calls"],
  ["failed slow", "failed or slow"],
  ["not_sent", "not sent"],
  ["refused", "refused"],
];

/**
 * A field by which calls are filtered, with its texts in a call.
 * @type {readonly (readonly [string, string, (call: FinishedCall) => readonly (string | null | undefined)[]])[]}
 */
const FIELDS = [
  ["end", "End", ({ access, code }) => [textIn(access, "end"), code]],
  ["client", "Client", ({ access }) => [textIn(access, "client")]],
  ["model", "Model", (call) => [modelOf(call), call.requestedModel]],
  ["provider", "Provider", ({ access }) => [textIn(access, "provider")]],
  ["route", "Route", ({ access }) => [textIn(access, "route")]],
];

/** @type {Filters} */
export const NO_FILTERS = {};

/**
 * True if a call is of the kind and has the texts, in any case of their letters.
 * @param {FinishedCall} call
 * @param {Filters} filters
 */
export function isMatch(call, filters) {
  const { kind = "" } = filters;
  if (kind !== "" && !kind.split(" ").includes(markOf(call) || "none")) return false;
  return FIELDS.every(([name, , textsOf]) => {
    const wanted = (filters[name] ?? "").trim().toLowerCase();
    return wanted === "" || textsOf(call).some((text) => text?.toLowerCase().includes(wanted));
  });
}

/**
 * True if any call is left out.
 * @param {Filters} filters
 */
export function isFiltered(filters) {
  return Object.values(filters).some((text) => text.trim() !== "");
}

/**
 * Returns the form of the filters. Its lists have the texts of the stored calls.
 * @param {{ calls: readonly FinishedCall[], filters: Filters, onChange: (filters: Filters) => void }} props
 */
export function FilterForm({ calls, filters, onChange }) {
  const choices = useMemo(
    () =>
      FIELDS.map(([, , textsOf]) =>
        [...new Set(calls.flatMap(textsOf))].filter((text) => !!text).sort()
      ),
    [calls],
  );
  /** @param {Event} event */
  function change(event) {
    const { name, value } = /** @type {HTMLInputElement} */ (event.target);
    onChange({ ...filters, [name]: value });
  }
  return view`<form class="filters" aria-label="Filter of the finished calls" onInput=${change} onSubmit=${/** @param {Event} event */ (
    event,
  ) => event.preventDefault()}>
    <label>Show <select name="kind" value=${filters["kind"] ?? ""}>${
    KINDS.map(([kind, title]) => view`<option value=${kind}>${title}</option>`)
  }</select></label>
    ${
    FIELDS.map(([name, title], at) =>
      view`<label key=${name}>${title} <input name=${name} value=${
        filters[name] ?? ""
      } list="all-${name}" placeholder="any" autocomplete="off" spellcheck=${false} />
        <datalist id="all-${name}">${
        choices[at]?.map((text) => view`<option value=${cut(text ?? "")} />`)
      }</datalist></label>`
    )
  }
    <button type="button" aria-disabled=${!isFiltered(filters)} onClick=${() =>
    onChange(NO_FILTERS)}>Clear</button>
  </form>`;
}
