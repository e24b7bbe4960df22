import { isIPv4, isIPv6 } from "node:net";

/** Maximum length of a text with a format: no valid text of any of them is longer. */
const MAX_FORMAT_CHARS = 320;

/**
 * Formats of strings in a strict schema (OpenAI API, structured outputs). No pattern repeats a
 * group that itself repeats.
 */
const CHECKS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date", isDate],
  ["time", isTime],
  ["date-time", isDateTime],
  ["duration", isDuration],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", isIPv4],
  ["ipv6", isIPv6],
  ["uuid", (text) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)],
]);

/** Checks of the formats by name. Each takes a time that grows no faster than its text. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = Object.fromEntries(
  [...CHECKS].map(([name, check]) =>
    [name, (text: string) => text.length <= MAX_FORMAT_CHARS && check(text)] as const
  ),
);

/** Days of each month; 29 for February in a leap year. */
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return false;
  const isLeap = Number(year) % 4 === 0 && (Number(year) % 100 !== 0 || Number(year) % 400 === 0);
  const days = month === "02" && isLeap ? 29 : MONTH_DAYS[Number(month) - 1];
  return days !== undefined && Number(day) >= 1 && Number(day) <= days;
}

/** True for a time with an offset (RFC 3339); second 60 is a leap second. */
function isTime(text: string): boolean {
  const [, hour, minute, second, rest = ""] =
    /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(z|[+-]\d\d:\d\d)$/i.exec(text) ?? [];
  if (hour === undefined) return false;
  const isOffset = rest.length === 1 ||
    (Number(rest.slice(1, 3)) <= 23 && Number(rest.slice(4)) <= 59);
  return Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 60 && isOffset;
}

function isDateTime(text: string): boolean {
  return /^[t ]$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

/** True for a duration (RFC 3339, appendix A), whose weeks are combined with no other unit. */
function isDuration(text: string): boolean {
  return /^P\d+W$/.test(text) ||
    /^P(?=[\dT])(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?$/.test(text);
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const name = text.slice(0, at);
  return at > 0 && /^[\w!#$%&'*+/=?^`{|}~.-]+$/.test(name) && !/^\.|\.$|\.\./.test(name) &&
    isHostname(text.slice(at + 1));
}

function isHostname(text: string): boolean {
  return text.length <= 253 &&
    text.split(".").every((label) => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i.test(label));
}
