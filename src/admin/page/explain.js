// @ts-check
/// <reference lib="dom" />
import { useState } from "preact/hooks";
import { addFields, useAsk } from "./ask.js";
import { CHAT_PATH } from "./curl.js";
import { view } from "./ui.js";
/** @import { ExplainView } from "../snapshot.ts" */

const PATHS = [CHAT_PATH, "/v1/responses", "/v1/messages", "/v1/embeddings"];

/** Returns the form that shows how a request would be routed, without sending it. */
export function Explain() {
  const [result, setResult] = useState(/** @type {ExplainView | null} */ (null));
  const [problem, setProblem] = useState(/** @type {string | null} */ (null));
  const ask = useAsk();

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const answer = await ask(`/explain?${queryOf(data)}`);
    if (answer === null) return;
    setResult(answer.ok ? JSON.parse(answer.text) : null);
    setProblem(answer.ok ? null : messageIn(answer.text));
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
  addFields(query, data, ["model", "path", "provider"]);
  for (const line of String(data.get("headers") ?? "").split("\n")) {
    if (line.trim() === "") continue;
    query.append("header", line.trim());
  }
  return query;
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
