import type { StreamRecord } from "../core/stream/reply.ts";
import type { PrivacyCounts } from "../core/privacy_counts.ts";
import { type CallReport, NO_PATHS } from "./report.ts";
import { textBeginning } from "../core/text_beginning.ts";

/** The facts of a report that are sent to the client. */
type Shown = Pick<
  CallReport,
  "provider" | "model" | "route" | "cache" | "lossy" | "verified" | "held" | "privacy"
>;

/** The facts before a candidate has responded. */
export const NOTHING_KNOWN: Shown = {
  provider: null,
  model: null,
  route: null,
  cache: null,
  lossy: NO_PATHS,
  verified: NO_PATHS,
  held: null,
  privacy: null,
};

/** Maximum length of a list of field paths in a response header. */
const MAX_PATH_LIST_CHARS = 1024;

/** Maximum length of the comment with the fields, of which one list has at most a quarter. */
const MAX_COMMENT_CHARS = 2048;

/**
 * Maximum length of a name in a response header. Clients reject headers of several kilobytes, so
 * longer names are cut.
 */
const MAX_NAME_CHARS = 256;

/**
 * Returns the response header fields with the provider of a call and what became of its request. A
 * list of paths has at most `maxListChars`.
 */
export function gatewayFields(
  { provider, model, route, cache, lossy, verified, held, privacy }: Shown,
  maxListChars = MAX_PATH_LIST_CHARS,
): [name: string, value: string][] {
  const fields: [string, string][] = [];
  if (route !== null) fields.push(["x-gateway-route", headerText(route)]);
  if (provider !== null) fields.push(["x-gateway-provider", headerText(provider)]);
  if (model !== null) fields.push(["x-gateway-model", headerText(model)]);
  if (cache !== null) fields.push(["x-gateway-cache-status", cache]);
  const lossyToTokens = privacy?.lossy ?? NO_PATHS;
  // Most calls have neither.
  const partial = lossy.length + lossyToTokens.length === 0
    ? NO_PATHS
    : [...new Set([...lossy, ...lossyToTokens])];
  if (partial.length > 0) fields.push(["x-gateway-lossy", pathList(partial, maxListChars)]);
  if (verified.length > 0) fields.push(["x-gateway-verified", pathList(verified, maxListChars)]);
  if (held !== null) fields.push(["x-gateway-held", held]);
  const redacted = privacy === null ? "" : redactedText(privacy);
  if (redacted !== "") fields.push(["x-gateway-redacted", redacted]);
  return fields;
}

/** Returns how many values each privacy rule has acted on, without rules that only count. */
export function actedRules(privacy: PrivacyCounts | null): Record<string, number> {
  const acted = privacy?.matches.filter(({ action }) => action !== "monitor") ?? [];
  return Object.fromEntries(acted.map(({ rule, count }) => [rule, count]));
}

/** Returns the same as text, with the parts that no rule can read. */
export function redactedText(privacy: PrivacyCounts): string {
  const { unread, unrestored = 0 } = privacy;
  return [
    ...Object.entries(actedRules(privacy)).map(([rule, count]) => `${rule}=${count}`),
    ...unread > 0 ? [`unread=${unread}`] : [],
    ...unrestored > 0 ? [`unrestored=${unrestored}`] : [],
  ].join(", ");
}

/**
 * Returns the same fields as a comment of a stream whose headers were sent before they were known,
 * without those for which it has no room. Values have no blanks, which separate the fields.
 */
export function gatewayComment(report: Shown): StreamRecord {
  let text = ":";
  for (const [name, value] of gatewayFields(report, MAX_COMMENT_CHARS / 4)) {
    const field = ` ${name}=${value.replaceAll(", ", ",").replaceAll(" ", "%20")}`;
    if (text.length + field.length <= MAX_COMMENT_CHARS) text += field;
  }
  return { event: null, data: "", raw: `${text}\n\n` };
}

/**
 * Returns field paths as a header value; three full stops at the end stand for paths that do not
 * fit.
 */
function pathList(paths: readonly string[], maxChars: number): string {
  let list = "";
  for (const path of paths) {
    const separator = list === "" ? "" : ", ";
    const next = separator + pathText(path);
    if (list.length + next.length > maxChars - ELLIPSIS.length) {
      return list === "" ? "..." : list + ELLIPSIS;
    }
    list += next;
  }
  return list;
}

const ELLIPSIS = ", ...";

/**
 * Returns a path without the characters that a header or its list may not have, in
 * percent-encoding. A longer path than the list may have is cut: clients choose the names of
 * unknown fields.
 */
function pathText(path: string): string {
  return textBeginning(path, MAX_PATH_LIST_CHARS)
    .replace(/[^\x21-\x7e]|[%,]/gu, encodeURIComponent);
}

/** Returns a name as a header value, which has no line breaks and no characters beyond Latin-1. */
function headerText(text: string): string {
  const shown = textBeginning(text, MAX_NAME_CHARS);
  return /^[\x20-\x7e]*$/.test(shown) ? shown : encodeURI(shown);
}
