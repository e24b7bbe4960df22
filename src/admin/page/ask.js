// @ts-check
/// <reference lib="dom" />
import { useRef } from "preact/hooks";

/**
 * Response of the listener to a form of the page.
 * @typedef {{ ok: boolean, text: string }} Answer
 */

/**
 * Returns a function that requests a path of the listener. It returns null if it was called again
 * in the meantime: the response to an earlier request is not shown.
 */
export function useAsk() {
  /** Number of the newest request. */
  const newest = useRef(0);

  /**
   * @param {string} path
   * @returns {Promise<Answer | null>}
   */
  return async (path) => {
    const number = ++newest.current;
    const answer = await ask(path);
    return number === newest.current ? answer : null;
  };
}

/**
 * @param {string} path
 * @returns {Promise<Answer>}
 */
async function ask(path) {
  try {
    // Without the origin the browser refuses it on a page whose address has a password.
    const response = await fetch(`${location.origin}${path}`);
    return { ok: response.ok, text: await response.text() };
  } catch {
    return { ok: false, text: "The gateway cannot be reached." };
  }
}

/**
 * Adds the filled fields of a form to a query.
 * @param {URLSearchParams} query
 * @param {FormData} data
 * @param {readonly string[]} names
 */
export function addFields(query, data, names) {
  for (const name of names) {
    const value = String(data.get(name) ?? "").trim();
    if (value !== "") query.set(name, value);
  }
}
