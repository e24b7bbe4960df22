// @ts-check

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const THREE_DIGITS = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const CENTS = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const CLOCK = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });
const DAY_AND_CLOCK = new Intl.DateTimeFormat("en-GB", {
  dateStyle: "medium",
  timeStyle: "medium",
});

const SECOND_MS = 1000, MINUTE_MS = 60_000, HOUR_MS = 3_600_000, DAY_MS = 86_400_000;

/**
 * Returns a number with at most three digits below a thousand.
 * @param {number} value
 */
export function decimal(value) {
  return Math.abs(value) >= 1000 ? WHOLE.format(value) : THREE_DIGITS.format(value);
}

/**
 * Returns a whole number, such as `12,345`.
 * @param {number} value
 */
export function whole(value) {
  return WHOLE.format(value);
}

/**
 * Returns a number, in thousands or millions from 100,000 on, such as `1.23 M`.
 * @param {number} value
 */
export function short(value) {
  if (value >= 1e9) return `${THREE_DIGITS.format(value / 1e9)} G`;
  if (value >= 1e6) return `${THREE_DIGITS.format(value / 1e6)} M`;
  return value >= 1e5 ? `${THREE_DIGITS.format(value / 1e3)} k` : WHOLE.format(value);
}

/**
 * Returns a number with its noun, such as `1 call` and `2 calls`.
 * @param {number} value
 * @param {string} noun
 */
export function counted(value, noun) {
  return `${whole(value)} ${noun}${value === 1 ? "" : "s"}`;
}

/**
 * Returns a duration with its unit; `–` if there is none.
 * @param {number | null | undefined} ms
 */
export function duration(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < SECOND_MS) return `${THREE_DIGITS.format(ms < 1 ? ms : Math.round(ms * 10) / 10)} ms`;
  if (ms < MINUTE_MS) return `${THREE_DIGITS.format(ms / SECOND_MS)} s`;
  if (ms < HOUR_MS) return twoUnits(ms, MINUTE_MS, "min", SECOND_MS, "s");
  if (ms < DAY_MS) return twoUnits(ms, HOUR_MS, "h", MINUTE_MS, "min");
  return twoUnits(ms, DAY_MS, "d", HOUR_MS, "h");
}

/**
 * @param {number} ms
 * @param {number} large
 * @param {string} largeName
 * @param {number} small
 * @param {string} smallName
 */
function twoUnits(ms, large, largeName, small, smallName) {
  return `${Math.floor(ms / large)} ${largeName} ${Math.floor((ms % large) / small)} ${smallName}`;
}

/**
 * Returns the time left until something occurs, in whole seconds.
 * @param {number} ms
 */
export function timeLeft(ms) {
  return ms < MINUTE_MS ? `${Math.ceil(ms / SECOND_MS)} s` : duration(ms);
}

/**
 * Returns a size with its unit.
 * @param {number} bytes
 */
export function size(bytes) {
  if (bytes >= 1e9) return `${THREE_DIGITS.format(bytes / 1e9)} GB`;
  if (bytes >= 1e6) return `${THREE_DIGITS.format(bytes / 1e6)} MB`;
  return bytes >= 1e3 ? `${THREE_DIGITS.format(bytes / 1e3)} kB` : `${whole(bytes)} B`;
}

/**
 * Returns an amount of money; `–` if it is not known.
 * @param {number | null | undefined} value
 */
export function dollars(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "$0";
  return value >= 1 ? `$${CENTS.format(value)}` : `$${THREE_DIGITS.format(value)}`;
}

/**
 * Returns a share from 0 to 1 in percent; `–` if there is none.
 * @param {number | null} value
 */
export function percent(value) {
  if (value === null) return "–";
  if (value > 0 && value < 0.01) return "< 1 %";
  return value > 0.99 && value < 1 ? "> 99 %" : `${Math.round(value * 100)} %`;
}

/**
 * Returns the time of the day in the person's time zone.
 * @param {number} ms
 */
export function clock(ms) {
  return CLOCK.format(ms);
}

/**
 * Returns date and time in the person's time zone.
 * @param {number} ms
 */
export function dateAndClock(ms) {
  return DAY_AND_CLOCK.format(ms);
}
