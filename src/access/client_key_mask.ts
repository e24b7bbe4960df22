import { type Failure, isRefusal } from "../core/failure/failure.ts";
import type { RequestHeaders } from "../core/header_fields.ts";
import { MAX_NAME_CHARS } from "../core/text_beginning.ts";
import { decodeUriText } from "../core/uri_text.ts";
import type { CallReport } from "../observe/report.ts";
import { withoutSecrets } from "../wires/secret_text.ts";
import { secretsOf, type Target } from "../wires/wire.ts";
import { type AcceptedKeys, presentedKey, requiresKey } from "./presented_key.ts";

/** Text in the place of a masked client key. */
const LABEL = "[client_key]";

/** A token of an issuer (RFC 7515, section 7.1); its first part is a JSON object. */
const TOKEN = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

/** A shorter key may be a common word, so it is masked only where it is a whole value. */
const MIN_WORD_CHARS = 8;

/** Length of a character in the longest form: its code, in a JSON text within another one. */
const MAX_ESCAPED_CHARS = "\\\\u0000".length;

/** The parts of a call that have the key of its client. */
interface KeyedCall {
  readonly headers: RequestHeaders;
  readonly generation: AcceptedKeys;
  readonly report: CallReport;
}

/** Masks the key of a call's client wherever else than in its own header the client has put it. */
export interface ClientKeyMask {
  text(text: string): string;
  /** Masks a JSON text, in which the key may be escaped. */
  json(text: string): string;
  /** The key; empty without one, or if it may be a common word. */
  readonly key: string;
  /** Length of the longest form of the key; 0 without one. */
  readonly maxChars: number;
}

/** Returns the mask of the key or the token with which a call was admitted. */
export function newClientKeyMask(call: KeyedCall): ClientKeyMask {
  const key = keyOf(call);
  if (key === "") return { text: (text) => text, json: (text) => text, key, maxChars: 0 };
  if (key.length < MIN_WORD_CHARS) {
    const masked = (part: string) => part === key ? LABEL : part;
    const text = (one: string) => one.split("=").map(masked).join("=");
    return { text, json: masked, key: "", maxChars: 0 };
  }
  // Made for the first text with a code: most have none, and a pattern takes longer than a look.
  let code: RegExp | null = null;
  const forms = keyForms(key);
  return {
    text: (text) => text.replaceAll(key, LABEL),
    json(text) {
      const masked = forms.reduce((one, form) => one.replaceAll(form, LABEL), text);
      if (!masked.includes("\\u")) return masked;
      return (code ??= codeIn(key)).test(masked) ? maskAnyForm(masked, key) : masked;
    },
    key,
    maxChars: MAX_ESCAPED_CHARS * key.length,
  };
}

/**
 * Masks the key of a call's client in the path of its report, which log lines, spans and the admin
 * page have, and each token of an issuer, whichever key the client has presented, if any.
 */
export function hideKeyInPath(call: KeyedCall): void {
  const { report, generation: { tokens } } = call;
  // A path without parameters is the gateway's own word.
  if (report.path === report.endpoint.path) return;
  if (tokens !== null) {
    report.path = report.path.split("/").map((part) => TOKEN.test(part) ? encodeURI(LABEL) : part)
      .join("/");
  }
  const key = keyOf(call);
  if (key.length < MIN_WORD_CHARS) return;
  const path = report.path.includes("%") ? decodeUriText(report.path) : report.path;
  if (path.includes(key)) report.path = encodeURI(path.replaceAll(key, LABEL));
}

/**
 * Masks the key of a finished call's client in what its report has of the client's words besides
 * its path and its attempts: it is in log lines, in spans and on the admin page.
 */
export function hideClientKey(call: KeyedCall): void {
  const { report } = call;
  const masked = wordMask(call);
  if (masked === null) return;
  for (const name of ["session", "conversation", "model"] as const) {
    const text = report[name];
    if (text !== null) report[name] = masked(text);
  }
  for (const name of ["lossy", "verified"] as const) {
    if (report[name].length > 0) report[name] = report[name].map(masked);
  }
  const { failure, trace } = report;
  if (failure !== null) report.failure = maskedFailure(failure, masked);
  if (trace === null) return;
  if (trace.requestedModel !== null) trace.requestedModel = masked(trace.requestedModel);
  trace.targets = trace.targets.map((target) => ({
    ...target,
    model: target.model === null ? null : masked(target.model),
    skipped: target.skipped === null ? null : masked(target.skipped),
  }));
}

/** Returns a failure as readers of a log see it: its field or its sentence may name a property. */
function maskedFailure(failure: Failure, masked: (text: string) => string): Failure {
  return isRefusal(failure)
    ? { ...failure, at: failure.at === null ? null : masked(failure.at) }
    : { ...failure, message: masked(failure.message) };
}

/**
 * Returns the mask of a client's key in words of a call that log lines and spans have, also in what
 * a provider repeats; null without a key, or if it may be a common word.
 */
export function wordMask(call: KeyedCall): ((text: string) => string) | null {
  const key = keyOf(call);
  if (key.length < MIN_WORD_CHARS) return null;
  return (text) => {
    const masked = text.replaceAll(key, LABEL);
    return text.length < MAX_NAME_CHARS ? masked : maskCut(masked, key);
  };
}

/**
 * Returns the mask of words of a provider, which may repeat the key of the client and what no
 * client may see of the target. Those are read for each text: a credential may be renewed before a
 * request is sent.
 */
export function repeatMask(call: KeyedCall, target: Target): (text: string) => string {
  const mask = wordMask(call);
  return (text) => {
    const secrets = secretsOf(target).filter(({ length }) => length >= MIN_WORD_CHARS);
    return withoutSecrets(mask?.(text) ?? text, secrets);
  };
}

/** Masks the beginnings of a key in a text with a name that may have been cut within the key. */
function maskCut(text: string, key: string): string {
  const [first = "", ...pieces] = text.split(key.slice(0, MIN_WORD_CHARS));
  const rest = key.slice(MIN_WORD_CHARS);
  return pieces.reduce((masked, piece) => {
    let end = 0;
    while (end < piece.length && piece[end] === rest[end]) end++;
    return masked + LABEL + piece.slice(end);
  }, first);
}

/** Returns a key as it is, and as a JSON text may have it without codes of its characters. */
export function keyForms(key: string): readonly string[] {
  const escaped = JSON.stringify(key).slice(1, -1);
  return [...new Set([key, escaped, escaped.replaceAll("/", "\\/")])];
}

/** Returns the key that a client has presented; empty without one, or if none is required. */
function keyOf({ headers, generation }: KeyedCall): string {
  return requiresKey(generation) ? presentedKey(headers, generation.config.security.api_key) : "";
}

/** Returns the pattern of a character of a key as its code in JSON, which few texts have. */
function codeIn(key: string): RegExp {
  const codes = new Set(key.split("").map(codeOf));
  return new RegExp(`\\\\u(?:${[...codes].join("|")})`, "i");
}

/**
 * Characters of a key that a pattern finds. One for all of them takes 0.3 ms for each, and for a
 * token of 8,000 the engine makes none.
 */
const PATTERN_CHARS = 64;

/** Masks a key in a JSON text, whichever of its characters are codes. */
function maskAnyForm(text: string, key: string): string {
  const pattern = anyForm(key.slice(0, PATTERN_CHARS));
  const rest = key.slice(PATTERN_CHARS).replaceAll("\\", "");
  let masked = "";
  let from = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const end = endOfForm(text, pattern.lastIndex, rest);
    if (end === null) pattern.lastIndex = found.index + 1;
    else {
      masked += text.slice(from, found.index) + LABEL;
      from = pattern.lastIndex = end;
    }
  }
  return masked + text.slice(from);
}

/**
 * Returns where a part of a key ends that begins here in a JSON text, with any backslashes before
 * its characters or their codes; null if it does not.
 */
function endOfForm(text: string, begin: number, part: string): number | null {
  let at = begin;
  for (let index = 0; index < part.length; index++) {
    const first = at;
    while (text[at] === "\\") at++;
    const isCode = at > first && text[at] === "u" &&
      text.slice(at + 1, at + 5).toLowerCase() === codeOf(part.charAt(index));
    if (!isCode && text[at] !== part[index]) return null;
    at += isCode ? 5 : 1;
  }
  return at;
}

/**
 * Returns the pattern of a key in a JSON text, also in one that is a string of another one: each
 * character as it is or as its code, with the backslashes before it.
 */
function anyForm(key: string): RegExp {
  const forms = key.split("").map((unit, at) => {
    // From the first of many backslashes only, so that each is looked at once.
    const begin = at === 0 ? "(?<!\\\\)" : "";
    const digits = codeOf(unit).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
    const escape = ESCAPES[unit] ?? "";
    const plain = `${escape === "" ? "" : begin}${escape}\\u${codeOf(unit)}`;
    return `(?:${plain}|${begin}\\\\+u${digits})`;
  });
  return new RegExp(forms.join(""), "g");
}

function codeOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(4, "0");
}

/** Patterns of the escapes before characters that JSON escapes. */
const ESCAPES: Readonly<Record<string, string>> = { '"': "\\\\*", "/": "\\\\*", "\\": "\\\\" };
