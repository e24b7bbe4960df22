// @ts-check
/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import { addFields, useAsk } from "./ask.js";
import { clock, counted, dateAndClock, duration, size, whole } from "./format.js";
import { Target } from "./outcome.js";
import { EmptyRow, Name, Section, Table, view } from "./ui.js";
/** @import { RecordsView } from "../snapshot.ts" */
/** @import { CallRecord } from "../../record/record.ts" */

/**
 * A record of a list: with its number, or the time of one that cannot be opened.
 * @typedef {{ seq: number, record?: CallRecord, at?: number, keyNumber?: number | null }} Hit
 */

/**
 * A record with its content.
 * @typedef {{ record: CallRecord, dialogue: readonly { role: string, text: string }[], curl: string | null }} Shown
 */

const COLUMNS = ["Time", "Outcome", "Model", "Client", "Route", "#Took", "#Tokens"];

/** Fields of the form: parameter, title and an example. */
const FIELDS = [
  ["since", "Since", "1h"],
  ["key", "Client", "any"],
  ["model", "Model", "gpt-*"],
  ["end", "End", "any"],
  ["status", "Status", "4xx"],
  ["tool", "Tool", "any"],
  ["text", "Text", "in the content"],
];

/** Maximum number of rows. */
const MAX_ROWS = 50;

/** Content of one text of a dialogue that is shown. */
const MAX_TEXT_CHARS = 20_000;

/**
 * Returns the recorded calls: a form that searches them, and one of them with its content.
 * @param {{ records: RecordsView }} props
 */
export function Log({ records }) {
  const [hits, setHits] = useState(/** @type {readonly Hit[] | null} */ (null));
  const [shown, setShown] = useState(/** @type {Shown | null} */ (null));
  const [problem, setProblem] = useState(/** @type {string | null} */ (null));
  const opener = useRef(/** @type {HTMLElement | null} */ (null));
  const ask = useAsk();

  /** @param {SubmitEvent} event */
  async function search(event) {
    event.preventDefault();
    const data = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    // One more than is shown says whether there are more.
    const query = new URLSearchParams({ limit: String(MAX_ROWS + 1) });
    addFields(query, data, FIELDS.map(([name = ""]) => name));
    await load(`/log?${query}`, (text) => {
      const lines = text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
      // The last line may say why there are no more, or how many were not looked at.
      const { error = null, closed = 0 } = lines.at(-1) ?? {};
      setShown(null);
      setHits(lines.filter(({ seq }) => seq !== undefined));
      setProblem(
        error ??
          (closed > 0 ? `${closed} records cannot be opened, so they may match or not.` : null),
      );
    });
  }

  /**
   * @param {string} id
   * @param {MouseEvent} event
   */
  async function show(id, { currentTarget }) {
    opener.current = /** @type {HTMLElement} */ (currentTarget);
    await load(`/log/${encodeURIComponent(id)}`, (text) => setShown(JSON.parse(text)));
  }

  function close() {
    opener.current?.focus();
    setShown(null);
  }

  /**
   * @param {string} path
   * @param {(text: string) => void} receive
   */
  async function load(path, receive) {
    setProblem(null);
    const answer = await ask(path);
    if (answer === null) return;
    if (answer.ok) receive(answer.text);
    else setProblem(answer.text);
  }

  const { isOn, isShown, bytes, oldestMs, dropped } = records;
  const note = [
    size(bytes),
    oldestMs > 0 ? `, the oldest from ${duration(oldestMs)} ago` : "",
    dropped > 0 ? `, ${dropped} dropped` : "",
    isOn ? "" : "; recording has ended until the gateway is restarted",
  ].join("");
  if (!isShown) {
    return view`<${Section} id="log" title="Log" note=${note}>
      <p>Recorded calls are shown only if the page has a password: set <code>admin.password</code>.</p>
    <//>`;
  }
  return view`<${Section} id="log" title="Log" note=${note}>
    <form class="filters" aria-label="Search in recorded calls" onSubmit=${search}>
      ${
    FIELDS.map(([name, title, example]) =>
      view`<label key=${name}>${title} <input name=${name} placeholder=${example} autocomplete="off" spellcheck=${false} /></label>`
    )
  }
      <button type="submit">Search</button>
    </form>
    <div role="status" aria-live="polite">${
    problem !== null && view`<p class="trouble">${problem}</p>`
  }</div>
    ${
    hits !== null && view`<${Table} caption="Recorded calls" columns=${COLUMNS}>
      ${
      hits.slice(0, MAX_ROWS).map((hit) =>
        view`<${Row} key=${hit.seq} hit=${hit} onShow=${show} />`
      )
    }
      ${
      hits.length === 0 && problem === null &&
      view`<${EmptyRow} columns=${COLUMNS.length}>No recorded call matches.<//>`
    }
    <//>`
  }
    ${
    hits !== null && hits.length > MAX_ROWS &&
    view`<p class="note">These are the newest ${MAX_ROWS}; more calls match.</p>`
  }
    ${shown !== null && view`<${Content} shown=${shown} onClose=${close} />`}
  <//>`;
}

/**
 * @param {{ hit: Hit, onShow: (id: string, event: MouseEvent) => void }} props
 */
function Row({ hit, onShow }) {
  const { record } = hit;
  if (record === undefined) {
    return view`<tr><td>${dateAndClock(hit.at ?? 0)}</td><td colspan=${
      COLUMNS.length - 1
    }>unreadable${typeof hit.keyNumber === "number" && ` (key ${hit.keyNumber})`}</td></tr>`;
  }
  const { id, at, head } = record;
  const model = head.model_requested ?? head.attempts.at(-1)?.model;
  const tokens = head.usage === null ? "–" : whole(head.usage.input + head.usage.output);
  return view`<tr>
    <td><button type="button" class="link" onClick=${
    /** @param {MouseEvent} event */
    (event) => onShow(id, event)}>${dateAndClock(Date.parse(at))}</button></td>
    <td>${head.end} <span class="note">${head.status}</span></td>
    <td><${Name} text=${model} /></td>
    <td><${Name} text=${head.key} /></td>
    <td><${Name} text=${head.route} /></td>
    <td class="number">${duration(head.ms.total)}</td>
    <td class="number">${tokens}</td>
  </tr>`;
}

/**
 * Returns one record with its attempts, its dialogue and the command that sends it again.
 * @param {{ shown: Shown, onClose: () => void }} props
 */
function Content({ shown, onClose }) {
  const title = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  // It is below the list, where it may be out of sight.
  useEffect(() => title.current?.focus(), [shown]);
  const { record: { id, at, head, request }, dialogue, curl } = shown;
  return view`<div class="panel" id="record" role="region" aria-label="Recorded call">
    <div class="row"><h3 tabindex="-1" ref=${title}>${head.method} <${Name} text=${head.path} /> <span class="note">${
    clock(Date.parse(at))
  }, ${id}</span></h3><button type="button" onClick=${onClose}>Close</button></div>
    <p>${head.end}${head.code !== null && `, ${head.code}`}; ${
    counted(head.attempts.length, "attempt")
  }${head.finish !== null && `; finish ${head.finish}`}${
    head.cut.length > 0 && `; cut: ${head.cut.join(", ")}`
  }</p>
    <ol>${
    head.attempts.map(({ provider, model, outcome, began, ended }) =>
      view`<li><${Target} provider=${provider} model=${model} />: ${outcome}, ${
        duration(began)
      } to ${duration(ended)}</li>`
    )
  }</ol>
    ${
    request === undefined && view`<p class="note">Only the figures of this call are recorded.</p>`
  }
    ${
    dialogue.map(({ role, text }) =>
      view`<h4>${role}</h4><pre tabindex="0">${text.slice(0, MAX_TEXT_CHARS)}${
        text.length > MAX_TEXT_CHARS && "…"
      }</pre>`
    )
  }
    ${
    curl !== null &&
    view`<details><summary>Send it again with curl</summary><pre tabindex="0">${curl}</pre></details>`
  }
  </div>`;
}
