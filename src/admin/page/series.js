// @ts-check
import { MAX_SECONDS } from "./feed.js";
import { decimal, dollars, duration, short } from "./format.js";
/** @import { SecondView } from "../snapshot.ts" */

/** Rates are the mean of this many seconds, so that a quiet gateway has no comb for a line. */
const MEAN_S = 5;
/** Cost per hour is that of the last minute, times 60. */
const COST_S = 60;
const HOUR_S = 3600;

/**
 * A chart: its values are one array for each line, with one value for each second.
 * @typedef {object} Chart
 * @property {string} id
 * @property {string} title
 * @property {string} unit
 * @property {readonly string[]} lines
 * @property {(value: number) => string} text Writes a value of the chart with its unit.
 * @property {(all: readonly Slot[]) => (number | null)[][]} values
 * @property {readonly string[]} [columns] Names of the values of a minute, where they are no means of it.
 * @property {(minute: Minute) => (number | null)[]} ofMinute Values of one minute for the table.
 * @property {boolean} [keepsLast] True if the last known value stays until there is another one.
 */

/**
 * A second of a chart: `undefined` without calls, null before the gateway began.
 * @typedef {SecondView | undefined | null} Slot
 */

/**
 * The part of a clock minute that the charts have.
 * @typedef {object} Minute
 * @property {number} minute
 * @property {number} lengthS Seconds that have ended and are not too old.
 * @property {readonly SecondView[]} ones Seconds with calls.
 */

/** @type {readonly Chart[]} */
export const CHARTS = [
  {
    id: "rates",
    title: "Calls",
    unit: "per second",
    lines: ["finished", "failed", "refused", "not sent"],
    text: (value) => `${decimal(value)}/s`,
    values: (all) => [
      trailing(all, (one) => one.calls, MEAN_S),
      trailing(all, (one) => one.failures, MEAN_S),
      // A gateway of an older version does not count these.
      trailing(all, ({ refusals = 0 }) => refusals, MEAN_S),
      trailing(all, ({ notSent = 0 }) => notSent, MEAN_S),
    ],
    ofMinute: ({ ones, lengthS }) => [
      sum(ones, (one) => one.calls) / lengthS,
      sum(ones, (one) => one.failures) / lengthS,
      sum(ones, ({ refusals = 0 }) => refusals) / lengthS,
      sum(ones, ({ notSent = 0 }) => notSent) / lengthS,
    ],
  },
  {
    id: "latency",
    title: "First token",
    unit: "time",
    lines: ["p50", "p95"],
    text: duration,
    values: (all) => [
      all.map((one) => one?.firstTokenP50Ms ?? null),
      all.map((one) => one?.firstTokenP95Ms ?? null),
    ],
    // The quantiles of a minute do not follow from those of its seconds.
    columns: ["highest p50 of a second", "highest p95 of a second"],
    ofMinute: ({ ones }) => [
      highest(ones, (one) => one.firstTokenP50Ms),
      highest(ones, (one) => one.firstTokenP95Ms),
    ],
    keepsLast: true,
  },
  {
    id: "tokens",
    title: "Tokens",
    unit: "per second",
    lines: ["input", "output"],
    text: (value) => `${value < 1000 ? decimal(value) : short(value)}/s`,
    values: (all) => [
      trailing(all, (one) => one.inputTokens, MEAN_S),
      trailing(all, (one) => one.outputTokens, MEAN_S),
    ],
    ofMinute: ({ ones, lengthS }) => [
      sum(ones, (one) => one.inputTokens) / lengthS,
      sum(ones, (one) => one.outputTokens) / lengthS,
    ],
  },
  {
    id: "cost",
    title: "Cost",
    unit: "per hour",
    lines: ["dollars"],
    text: (value) => `${dollars(value)}/h`,
    values(all) {
      const unknown = trailing(all, ({ usd }) => usd === null ? 1 : 0, COST_S);
      return [
        trailing(all, ({ usd }) => usd ?? 0, COST_S)
          .map((usd, at) => hourCost(usd, unknown[at] ?? 0)),
      ];
    },
    ofMinute: ({ ones, lengthS }) => [
      hourCost(
        sum(ones, ({ usd }) => usd ?? 0) / lengthS,
        ones.filter(({ usd }) => usd === null).length,
      ),
    ],
  },
  {
    id: "streams",
    title: "Open streams",
    unit: "number",
    lines: ["open"],
    text: decimal,
    values: (all) => [carried(all, (one) => one.openStreams)],
    columns: ["most"],
    ofMinute: ({ ones }) => [highest(ones, (one) => one.openStreams)],
  },
];

/**
 * Returns the value of a line for its legend: of the second under the pointer, or of now.
 * @param {Chart} chart
 * @param {readonly (number | null)[]} values
 * @param {number | null} pointed
 */
export function legendValue({ keepsLast = false }, values, pointed) {
  if (pointed !== null || !keepsLast) return values.at(pointed ?? -1) ?? null;
  return values.findLast((value) => value !== null) ?? null;
}

/**
 * Returns the cost of an hour from that of a second; null if nothing is known to cost, and some
 * cost is unknown.
 * @param {number | null} usd
 * @param {number} unknown Seconds whose cost is unknown, or a part of them.
 */
function hourCost(usd, unknown) {
  return usd === null || (usd === 0 && unknown > 0) ? null : usd * HOUR_S;
}

/**
 * Returns the seconds of the charts, oldest first, and the first second of the gateway.
 * @param {readonly SecondView[]} seconds
 * @param {number} atMs
 * @param {number} uptimeMs
 */
export function alignSeconds(seconds, atMs, uptimeMs) {
  const last = Math.floor(atMs / 1000) - 1;
  const began = Math.floor((atMs - uptimeMs) / 1000);
  const times = Array.from({ length: MAX_SECONDS }, (_, at) => last - MAX_SECONDS + 1 + at);
  const known = new Map(seconds.map((one) => [one.second, one]));
  return {
    times,
    began,
    all: times.map((second) => known.get(second) ?? (second < began ? null : undefined)),
  };
}

/**
 * Returns the seconds by clock minute, the newest first. The newest minute has not ended, and the
 * oldest one has lost its first seconds, or the gateway began in it: a rate is that of the seconds
 * that there are.
 * @param {readonly SecondView[]} seconds
 * @param {number} last The newest second that has ended.
 * @param {number} began First second of the gateway.
 * @returns {Minute[]}
 */
export function minutesOf(seconds, last, began) {
  /** @type {Map<number, SecondView[]>} */
  const minutes = new Map();
  for (const one of seconds) {
    const minute = Math.floor(one.second / 60);
    const known = minutes.get(minute);
    if (known === undefined) minutes.set(minute, [one]);
    else known.push(one);
  }
  return [...minutes].sort(([one], [other]) => other - one).map(([minute, ones]) => {
    const from = Math.max(minute * 60, last + 1 - MAX_SECONDS, began);
    return { minute, ones, lengthS: Math.max(Math.min(minute * 60 + 60, last + 1) - from, 1) };
  });
}

/**
 * Returns for each second the mean of it and of those before it; null before the gateway began.
 * @param {readonly Slot[]} all
 * @param {(second: SecondView) => number} valueOf
 * @param {number} length
 * @returns {(number | null)[]}
 */
function trailing(all, valueOf, length) {
  let total = 0, lived = 0;
  const values = all.map((one) => one ? valueOf(one) : 0);
  return values.map((value, at) => {
    total += value - (values[at - length] ?? 0);
    if (all[at] === null) return null;
    lived++;
    // What remains of many additions and subtractions of parts is not quite nothing.
    return total < 1e-9 ? 0 : total / Math.min(length, lived);
  });
}

/**
 * Returns for each second its value, or the last one that is known: without calls nothing changed.
 * At first there is nothing.
 * @param {readonly Slot[]} all
 * @param {(second: SecondView) => number} valueOf
 * @returns {(number | null)[]}
 */
function carried(all, valueOf) {
  let last = 0;
  return all.map((one) => {
    if (one) last = valueOf(one);
    return one === null ? null : last;
  });
}

/**
 * @param {readonly SecondView[]} seconds
 * @param {(second: SecondView) => number} valueOf
 */
function sum(seconds, valueOf) {
  return seconds.reduce((total, one) => total + valueOf(one), 0);
}

/**
 * @param {readonly SecondView[]} seconds
 * @param {(second: SecondView) => number | null} valueOf
 */
function highest(seconds, valueOf) {
  const values = seconds.map(valueOf).filter((value) => value !== null);
  return values.length === 0 ? null : Math.max(...values);
}
