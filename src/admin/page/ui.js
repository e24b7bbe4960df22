// @ts-check
import { Component, h } from "preact";
import htm from "htm";
import { NO_MODEL } from "./curl.js";
import { cut, visible } from "./visible.js";
/** @import { Snapshot } from "../snapshot.ts" */

/**
 * Returns an element. Every text of the page passes here, and becomes a text node or an attribute.
 * @param {any} type
 * @param {Record<string, any> | null} props
 * @param {...any} children
 */
function element(type, props, ...children) {
  return h(type, props, ...children.map(shown));
}

/**
 * @param {unknown} child
 * @returns {any}
 */
function shown(child) {
  return typeof child === "string" ? visible(child) : child;
}

/**
 * Template tag of elements. The package declares its types for another kind of module.
 * @type {(strings: TemplateStringsArray, ...values: any[]) => any}
 */
export const view = /** @type {any} */ (htm).bind(element);

/**
 * Returns a component that is drawn again only when one of its properties has another value. The
 * feed stores what did not change as the same object, so an unchanged row costs one comparison.
 * @template {object} Props
 * @param {(props: Props) => any} draw A component without hooks.
 * @returns {(props: Props) => any}
 */
export function kept(draw) {
  /** @extends {Component<Props>} */
  class Kept extends Component {
    /**
     * @override
     * @param {Readonly<Props>} next
     */
    shouldComponentUpdate(next) {
      return !hasSameValues(this.props, next);
    }

    /** @override */
    render() {
      return draw(/** @type {Props} */ (this.props));
    }
  }
  return /** @type {any} */ (Kept);
}

/**
 * True if two components have the same properties.
 * @param {Record<string, any>} one
 * @param {Record<string, any>} other
 */
function hasSameValues(one, other) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length &&
    names.every((name) => one[name] === other[name]);
}

/**
 * Returns a section with its heading.
 * @param {{ id: string, title: string, note?: string, children?: any }} props
 */
export function Section({ id, title, note, children }) {
  return view`
    <section id="${id}" aria-labelledby="${id}-title">
      <div class="section-head"><h2 id="${id}-title">${title}</h2>${
    note && view`
        <p class="note">${note}</p>
      `
  }</div>
      ${children}
    </section>
  `;
}

/**
 * Returns a table that scrolls by itself where it is wider or higher than its place. A column that
 * begins with `#` holds numbers.
 * @param {{ caption: string, columns: readonly string[], children?: any }} props
 */
export function Table({ caption, columns, children }) {
  return view`
    <div class="scroll" tabindex="0" role="region" aria-label="${caption}">
      <table>
        <caption class="hidden">${caption}</caption>
        <thead><tr>${
    columns.map((column) =>
      view`
            <th scope="col" class="${column.startsWith("#") ? "number" : ""}">${
        column.replace(
          "#",
          "",
        )
      }</th>
          `
    )
  }</tr></thead>
        <tbody>${children}</tbody>
      </table>
    </div>
  `;
}

/**
 * Returns a row that explains why a table is empty.
 * @param {{ columns: number, children?: any }} props
 */
export function EmptyRow({ columns, children }) {
  return view`
    <tr><td colspan="${columns}" class="empty">${children}</td></tr>
  `;
}

/**
 * Returns a bar for a share from 0 to 1. The number is next to it, so that the bar itself is
 * silent.
 */
export const Bar = kept(
  /** @param {{ share: number, tone?: string }} props */
  ({ share, tone = "" }) => {
    const width = Math.round(Math.min(Math.max(share, 0), 1) * 100);
    return view`
    <svg class="bar ${tone}" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="6" />
      <rect class="fill" width="${width}" height="6" />
    </svg>
  `;
  },
);

/**
 * Returns a word with a colour that repeats its meaning.
 * @param {{ tone: "good" | "warn" | "bad" | "unsent" | "quiet", children?: any }} props
 */
export function Badge({ tone, children }) {
  return view`
    <span class="badge ${tone}">${children}</span>
  `;
}

/** Returns a name that a client or the file chose, cut to fit. */
export const Name = kept(
  /** @param {{ text: string | null | undefined }} props */
  ({ text }) => {
    if (text === null || text === undefined || text === "") {
      return view`
      <span class="none">–</span>
    `;
    }
    return view`
    <span class="name" title="${visible(text)}">${cut(text)}</span>
  `;
  },
);

/**
 * Returns what a first call has to change if the configuration names no model for it.
 * @param {{ snapshot: Pick<Snapshot, "exampleModel">, model: string }} props Model of that call.
 */
export function NoModelNote({ snapshot: { exampleModel }, model }) {
  return exampleModel === null && model === NO_MODEL
    ? view`<p>No route names a model for a call without further headers: put the name of one in the place of <code>${NO_MODEL}</code>.</p>`
    : null;
}
