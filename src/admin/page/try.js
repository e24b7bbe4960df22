// @ts-check
/// <reference lib="dom" />
import { useRef, useState } from "preact/hooks";
import { curlText, firstModel, gatewayUrl } from "./curl.js";
import { counted, duration } from "./format.js";
import { MAX_TEXT_CHARS, NO_ANSWER, sendChat } from "./send_chat.js";
import { Badge, NoModelNote, Section, Table, view } from "./ui.js";
/** @import { Answer } from "./send_chat.js" */
/** @import { Snapshot } from "../snapshot.ts" */

/**
 * Texts of the form. The key is only in its field: neither here, nor in the address, nor stored.
 * @typedef {object} Draft
 * @property {string} url
 * @property {boolean} hasKey True if a key is typed.
 * @property {{ model: string, stream: boolean, messages: { role: string, content: string }[] }} body
 */

/**
 * Returns the form that sends a chat call to the gateway as any client does.
 * @param {{ snapshot: Snapshot }} props
 */
export function TryIt({ snapshot }) {
  const [draft, setDraft] = useState(() => firstDraft(snapshot));
  const [answer, setAnswer] = useState(NO_ANSWER);
  const sending = useRef(/** @type {AbortController | null} */ (null));
  const isRunning = answer.phase === "running";

  /** @param {SubmitEvent} event */
  async function submit(event) {
    event.preventDefault();
    if (isRunning) return;
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const sent = draftIn(form);
    const abort = new AbortController();
    sending.current = abort;
    setDraft(sent);
    const key = String(new FormData(form).get("key") ?? "");
    const { keyHeader } = snapshot;
    await sendChat({ ...sent, keyHeader, key }, abort.signal, setAnswer);
  }

  /** @param {Event} event */
  function change(event) {
    setDraft(draftIn(/** @type {HTMLFormElement} */ (event.currentTarget)));
  }

  const models = [
    ...new Set(
      snapshot.routes.flatMap(({ targets }) =>
        targets.map(({ model }) => model).filter((model) => model !== null)
      ),
    ),
  ].slice(0, 100);
  // Without the header a gateway that requires a key would refuse the command.
  const hasKey = draft.hasKey || snapshot.requiresKey;
  // A button that is disabled loses the focus, and the person their place on the page.
  return view`<${Section} id="try" title="Try it" note="Sends a call from this page to the gateway. It is routed, limited, counted and paid for like any other.">
    <form class="panel form" aria-labelledby="try-title" autocomplete="off" onSubmit=${submit} onInput=${change}>
      <div class="fields">
        <label>Address of the gateway <input name="url" type="url" required defaultValue=${draft.url} autocomplete="off" spellcheck=${false} /></label>
        <label>Client key <span class="note">${
    snapshot.requiresKey ? "required" : "not required here"
  }; it stays in this field</span> <input name="key" type="password" autocomplete="off" spellcheck=${false} /></label>
        <label>Model <input name="model" required defaultValue=${draft.body.model} list="models" autocomplete="off" spellcheck=${false} /></label>
        <datalist id="models">${models.map((model) => view`<option value=${model} />`)}</datalist>
        <label class="wide">Message <textarea name="message" rows="3" required defaultValue="Say hello."></textarea></label>
        <label class="check"><input name="stream" type="checkbox" defaultChecked=${true} /> Stream the response</label>
      </div>
      <${NoModelNote} snapshot=${snapshot} model=${draft.body.model} />
      <div class="row">
        <button type="submit" class="main" aria-disabled=${isRunning}>Send</button>
        <button type="button" aria-disabled=${!isRunning} onClick=${() =>
    sending.current?.abort()}>Stop</button>
      </div>
    </form>
    <${AnswerView} answer=${answer} />
    <h3>The same with curl</h3>
    <pre tabindex="0" role="region" aria-label="The same call with curl" id="curl"><code>${
    curlText({ ...draft, keyHeader: hasKey ? snapshot.keyHeader : null })
  }</code></pre>
  <//>`;
}

/** @param {{ answer: Answer }} props */
function AnswerView({ answer }) {
  const { phase, status, text, problem, headers, firstMs, totalMs } = answer;
  if (phase === "none") return null;
  return view`<div class="answer" aria-busy=${phase === "running"}>
    <p role="status" aria-live="polite">${
    status === null
      ? null
      : view`<${Badge} tone=${status < 400 ? "good" : "bad"}>status ${status}<//>`
  } ${phaseText(answer)}</p>
    ${problem !== null && view`<p class="trouble" id="try-problem">${problem}</p>`}
    ${
    text !== "" &&
    view`<h3>Response${
      firstMs !== null &&
      view` <span class="note">first text after ${duration(firstMs)}${
        totalMs !== null && view`, complete after ${duration(totalMs)}`
      }</span>`
    }</h3><pre tabindex="0" role="region" aria-label="Response" id="try-text">${text}</pre>`
  }
    ${
    text.length === MAX_TEXT_CHARS &&
    view`<p class="note">Only the first ${counted(MAX_TEXT_CHARS, "character")} are shown.</p>`
  }
    ${phase === "ended" && text === "" && view`<p class="note">The response has no text.</p>`}
    ${
    headers.length > 0 &&
    view`<${Table} caption="Gateway headers of the response" columns=${["Header", "Value"]}>${
      headers.map(([name, value]) =>
        view`<tr key=${name}><th scope="row"><code>${name}</code></th><td><code>${value}</code></td></tr>`
      )
    }<//>`
  }
  </div>`;
}

/** @param {Answer} answer */
function phaseText({ phase, status }) {
  if (phase === "running") return status === null ? "Waiting for the response…" : "Receiving…";
  return { ended: "Complete.", failed: "Failed.", stopped: "Stopped.", none: "" }[phase];
}

/**
 * @param {Snapshot} snapshot
 * @returns {Draft}
 */
function firstDraft(snapshot) {
  return {
    url: gatewayUrl(snapshot, location),
    hasKey: false,
    body: {
      model: firstModel(snapshot),
      stream: true,
      messages: [{ role: "user", content: "Say hello." }],
    },
  };
}

/**
 * @param {HTMLFormElement} form
 * @returns {Draft}
 */
function draftIn(form) {
  const data = new FormData(form);
  const text = (/** @type {string} */ name) => String(data.get(name) ?? "");
  return {
    url: text("url").trim().replace(/\/+$/, ""),
    hasKey: text("key") !== "",
    body: {
      model: text("model").trim(),
      stream: data.has("stream"),
      messages: [{ role: "user", content: text("message") }],
    },
  };
}
