// @ts-check
/// <reference lib="dom" />
import { useRef, useState } from "preact/hooks";
import { CHAT_PATH } from "./curl.js";
import { view } from "./ui.js";
/** @import { ExplainView } from "../snapshot.ts" */

const PATHS = [CHAT_PATH, "/v1/responses", "/v1/messages", "/v1/embeddings"];

/** Returns the form that shows how a request would be routed, without sending it. */
export function Explain() {
  const [result, setResult] = useState(/** @type {ExplainView | null} */ (null));
  const [problem, setProblem] = useState(/** @type {string | null} */ (null));
  /** Number of the newest request: the response to an earlier one is not shown. */
  const newest = useRef(0);

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const number = ++newest.current;
    const answer = await ask(queryOf(data));
    if (number !== newest.current) return;
    setResult(typeof answer === "string" ? null : answer);
    setProblem(typeof answer === "string" ? answer : null);
  }

  return view`<form class="panel form" id="explain" aria-labelledby="explain-title" onSubmit=${submit}>
    <h3 id="explain-title">Explain a request</h3>
    <div class="fields">
      <label>Model <input name="model" required placeholder="gpt-4o-mini" autocomplete="off" spellcheck=${false} /></label>
      <label>Path <input name="path" required defaultValue=${CHAT_PATH} list="paths" autocomplete="off" /></label>
      <datalist id="paths">${PATHS.map((path) => view`<option value=${path} />`)}</datalist>
      <label>Provider <span class="note">optional</span> <input name="provider" autocomplete="off" /></label>
      <label class="wide">Headers <span class="note">optional, one <code>Name: value</code> a line</span>
        <textarea name="headers" rows="2" spellcheck=${false}></textarea></label>
    </div>
    <button type="submit">Explain</button>
    <div role="status" aria-live="polite">
      ${problem !== null && view`<p class="trouble">${problem}</p>`}
      ${
    result !== null &&
    view`<pre tabindex="0" role="region" aria-label="Explanation" class=${
      result.isServed ? "good" : "bad"
    }>${result.lines.join("\n")}</pre>`
  }
    </div>
  </form>`;
}

/**
 * Returns the query of a filled form: the options of `switchyard explain`.
 * @param {FormData} data
 */
function queryOf(data) {
  const query = new URLSearchParams();
  for (const name of ["model", "path", "provider"]) {
    const value = String(data.get(name) ?? "").trim();
    if (value !== "") query.set(name, value);
  }
  for (const line of String(data.get("headers") ?? "").split("\n")) {
    if (line.trim() === "") continue;
    query.append("header", line.trim());
  }
  return query;
}

/**
 * @param {URLSearchParams} query
 * @returns {Promise<ExplainView | string>}
 */
async function ask(query) {
  try {
    // Without the origin the browser refuses it on a page whose address has a password.
    const response = await fetch(`${location.origin}/explain?${query}`);
    const text = await response.text();
    return response.ok ? JSON.parse(text) : messageIn(text);
  } catch {
    return "The gateway cannot be reached.";
  }
}

/**
 * Returns the message of an error response.
 * @param {string} text
 */
function messageIn(text) {
  try {
    const { error } = JSON.parse(text);
    return String(error.message ?? error);
  } catch {
    return text;
  }
}
