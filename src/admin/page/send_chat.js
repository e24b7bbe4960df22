// @ts-check
/// <reference lib="dom" />
import { CHAT_PATH, keyValue } from "./curl.js";
/** @import { Draft } from "./try.js" */
/** @import { Snapshot } from "../snapshot.ts" */

/** Characters of a response that are shown; the rest is not stored. */
export const MAX_TEXT_CHARS = 200_000;
const MAX_LINE_CHARS = 1_000_000;
/** Time for the report of a request that the content policy has blocked. */
const MAX_REPORT_MS = 50;
/** Response headers of the gateway that a client uses. */
const SHOWN_HEADERS = /^(?:x-gateway-|x-ratelimit-|x-request-id$|retry-after$)/;

/**
 * The response to a call of the page, as far as it has arrived.
 * @typedef {object} Answer
 * @property {"none" | "running" | "ended" | "failed" | "stopped"} phase
 * @property {number | null} status
 * @property {string} text
 * @property {string | null} problem
 * @property {[string, string][]} headers
 * @property {number | null} firstMs Milliseconds to the first text.
 * @property {number | null} totalMs
 */

/** @type {Answer} */
export const NO_ANSWER = {
  phase: "none",
  status: null,
  text: "",
  problem: null,
  headers: [],
  firstMs: null,
  totalMs: null,
};

/**
 * Sends a chat call, and passes the response on as it arrives.
 * @param {Draft & { keyHeader: Snapshot["keyHeader"], key: string }} call
 * @param {AbortSignal} signal
 * @param {(answer: Answer) => void} onChange
 */
export async function sendChat({ url, body, keyHeader, key }, signal, onChange) {
  const beganMs = performance.now();
  /** @type {Answer} */
  let answer = { ...NO_ANSWER, phase: "running" };
  let isBlocked = false;
  const blocked = () => isBlocked = true;

  /** @param {Partial<Answer>} change */
  function update(change) {
    answer = { ...answer, ...change };
    onChange(answer);
  }

  /** @param {string} text */
  function add(text) {
    const firstMs = answer.firstMs ?? performance.now() - beganMs;
    const room = MAX_TEXT_CHARS - answer.text.length;
    if (room > 0) update({ firstMs, text: answer.text + text.slice(0, room) });
  }

  update({});
  document.addEventListener("securitypolicyviolation", blocked);
  try {
    const response = await fetch(url + CHAT_PATH, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key === "" ? {} : { [keyHeader.name]: keyValue(keyHeader, key) }),
      },
      body: JSON.stringify(body),
      credentials: "omit",
      signal,
    });
    const { status } = response;
    update({ status, headers: [...response.headers].filter(([name]) => SHOWN_HEADERS.test(name)) });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
    const problem = isStream
      ? await readStream(response, add)
      : readWhole(await response.text(), response.ok, add);
    update({
      problem,
      phase: problem === null ? "ended" : "failed",
      totalMs: performance.now() - beganMs,
    });
  } catch (error) {
    if (signal.aborted) return update({ phase: "stopped" });
    // The browser reports the blocked request after it has failed.
    await new Promise((resolve) => setTimeout(resolve, MAX_REPORT_MS));
    // A key with characters that no header can have is refused by the browser itself.
    const problem =
      error instanceof TypeError && /header|ISO-8859-1|ByteString/i.test(error.message)
        ? "The client key has characters that no key can have."
        : noResponse(url, isBlocked, answer.status !== null);
    update({ phase: "failed", problem });
  } finally {
    document.removeEventListener("securitypolicyviolation", blocked);
  }
}

/**
 * Returns why there is no response; the browser does not say it to a page.
 * @param {string} url
 * @param {boolean} isBlocked
 * @param {boolean} isBegun
 */
function noResponse(url, isBlocked, isBegun) {
  if (isBlocked) {
    return `This page may call only the gateway it belongs to, and ${url} is another address.`;
  }
  if (isBegun) return "The connection broke off within the response.";
  return `There is no response from ${url}. Either no gateway listens there, or it refuses pages of ` +
    `${location.origin}; then add that to server.allowed_origins.`;
}

/**
 * Reads a stream of chat events. Returns the problem that it ends with.
 * @param {Response} response
 * @param {(text: string) => void} add
 */
async function readStream(response, add) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let isDone = false;
  for (;;) {
    const { done, value } = await reader?.read() ?? { done: true, value: "" };
    if (done) return isDone ? null : "The stream ended before it was complete.";
    const lines = (rest + value).split("\n");
    rest = (lines.pop() ?? "").slice(0, MAX_LINE_CHARS);
    for (const line of lines) {
      const data = line.startsWith("data:") ? line.slice(5).trim() : "";
      if (data === "[DONE]") isDone = true;
      if (!data.startsWith("{")) continue;
      const problem = readPart(data, add);
      if (problem === null) continue;
      reader?.cancel().catch(() => {});
      return problem;
    }
  }
}

/**
 * @param {string} data
 * @param {(text: string) => void} add
 */
function readPart(data, add) {
  const { choices, error } = parsed(data);
  if (isError(error)) return messageOf(error);
  const text = textOf(choices?.[0]?.delta);
  if (text !== null && text !== "") add(text);
  return null;
}

/**
 * Reads a whole response. Returns the message of an error.
 * @param {string} text
 * @param {boolean} isOk True if the status is one of success.
 * @param {(text: string) => void} add
 */
function readWhole(text, isOk, add) {
  const { choices, error } = parsed(text);
  if (isError(error)) return messageOf(error);
  add(textOf(choices?.[0]?.message) ?? text);
  return isOk ? null : "The response has no error of the gateway: another server may have sent it.";
}

/**
 * Returns what a message or its next part says: its text, or the refusal of a model (OpenAI API,
 * chat completions). Null if it says nothing.
 * @param {any} message
 */
function textOf(message) {
  const text = message?.content ?? message?.refusal;
  return typeof text === "string" ? text : null;
}

/**
 * True if a member `error` is one. Some providers send null with each response.
 * @param {unknown} error
 */
function isError(error) {
  return error !== undefined && error !== null;
}

/**
 * Returns the message of an error with its code, in the form that a server chose for it.
 * @param {any} error
 */
function messageOf(error) {
  if (typeof error !== "object") return String(error);
  const code = error.code ?? error.type;
  const message = String(error.message ?? "The response is an error without a message.");
  return code === undefined || code === null ? message : `${message} (${code})`;
}

/**
 * @param {string} text
 * @returns {any}
 */
function parsed(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
