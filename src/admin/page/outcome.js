// @ts-check
import { counted } from "./format.js";
import { Badge, Name, view } from "./ui.js";
/** @import { AttemptView, FinishedCall } from "../snapshot.ts" */

/**
 * Outcome of a call in words, with a tone that no other outcome has.
 * @type {Readonly<Record<FinishedCall["outcome"], readonly ["good" | "warn" | "bad" | "unsent" | "quiet", string]>>}
 */
const OUTCOMES = {
  complete: ["good", "complete"],
  refused: ["warn", "refused"],
  failed: ["bad", "failed"],
  not_sent: ["unsent", "not sent"],
  left: ["quiet", "client left"],
};

/**
 * Returns what became of a call, with status and code. The call of an older gateway has only its
 * end.
 * @param {{ call: FinishedCall }} props
 */
export function Outcome({ call: { access, outcome, code } }) {
  const { status, end } = access;
  const [tone, word] = OUTCOMES[outcome] ?? ["quiet", String(end ?? "unknown")];
  // A narrow screen breaks a code between its words.
  const words = code?.split(/(?<=_)/).map((part) => view`<span>${part}<wbr /></span>`);
  return view`<span class="outcome"><${Badge} tone=${tone}>${word}<//> <span class="note">${
    typeof status === "number" ? status : ""
  }</span>${words && view` <code>${words}</code>`}</span>`;
}

/**
 * Returns the provider and model of a call, or the model that was requested if no provider was
 * chosen.
 * @param {{ provider: string | null, model: string | null }} props
 */
export function Target({ provider, model }) {
  if (provider === null && model === null) return view`<span class="none">–</span>`;
  if (provider === null) return view`<${Name} text=${model} /> <span class="note">requested</span>`;
  return view`<${Name} text=${provider} />${
    model !== null && view`<span class="slash">/</span><${Name} text=${model} />`
  }`;
}

/**
 * Returns how a call was served, where that is not by the first attempt at its target.
 * @param {FinishedCall} call
 */
export function marksOf({ access, attempts, isSlow }) {
  const tries = attempts.filter(wasSent).length;
  return [
    ...access["cache"] === "HIT" ? ["cache hit"] : [],
    ...tries > 1 ? [counted(tries, "attempt")] : [],
    ...access["fallback"] === true ? ["fallback"] : [],
    ...typeof access["early_head_ms"] === "number" ? ["early head"] : [],
    ...textIn(access, "held") === "complete" ? ["held"] : [],
    ...isSlow ? ["slow"] : [],
  ];
}

/** @param {AttemptView} attempt */
export function wasSent({ notSent }) {
  return notSent !== true;
}

/**
 * Returns the model of a call, or the requested one if it has no target.
 * @param {FinishedCall} call
 */
export function modelOf({ access, requestedModel }) {
  return textIn(access, "model") ?? requestedModel ?? null;
}

/**
 * Returns a text field of the access line.
 * @param {FinishedCall["access"]} access
 * @param {string} name
 */
export function textIn(access, name) {
  const value = access[name];
  return typeof value === "string" ? value : null;
}
