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
 * @property {(all: readonly (SecondView | undefined)[]) => (number | null)[][]} values
 * @property {(minute: readonly SecondView[]) => (number | null)[]} ofMinute Values of one minute for the table.
 */

/** @type {readonly Chart[]} */
export const CHARTS = [
  {
    id: "rates",
    title: "Calls",
    unit: "per second",
    lines: ["finished", "failed"],
    text: (value) => `${decimal(value)}/s`,
    values: (all) => [
      trailing(all, (one) => one.calls, MEAN_S),
      trailing(all, (one) => one.failures, MEAN_S),
    ],
    ofMinute: (minute) => [
      sum(minute, (one) => one.calls) / 60,
      sum(minute, (one) => one.failures) / 60,
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
    ofMinute: (minute) => [
      highest(minute, (one) => one.firstTokenP50Ms),
      highest(minute, (one) => one.firstTokenP95Ms),
    ],
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
    ofMinute: (minute) => [
      sum(minute, (one) => one.inputTokens) / 60,
      sum(minute, (one) => one.outputTokens) / 60,
    ],
  },
  {
    id: "cost",
    title: "Cost",
    unit: "per hour",
    lines: ["dollars"],
    text: (value) => `${dollars(value)}/h`,
    values: (
      all,
    ) => [
      trailing(all, (one) => one.usd, COST_S).map((usd) => (usd ?? 0) * HOUR_S),
    ],
    ofMinute: (minute) => [sum(minute, (one) => one.usd) * 60],
  },
  {
    id: "streams",
    title: "Open streams",
    unit: "number",
    lines: ["open"],
    text: decimal,
    values: (all) => [carried(all, (one) => one.openStreams)],
    ofMinute: (minute) => [highest(minute, (one) => one.openStreams)],
  },
];

/**
 * Returns the seconds of the charts, oldest first, with `undefined` for each without calls.
 * @param {readonly SecondView[]} seconds
 * @param {number} atMs
 */
export function alignSeconds(seconds, atMs) {
  const last = Math.floor(atMs / 1000) - 1;
  const times = Array.from({ length: MAX_SECONDS }, (_, at) => last - MAX_SECONDS + 1 + at);
  const known = new Map(seconds.map((one) => [one.second, one]));
  return { times, all: times.map((second) => known.get(second)) };
}

/**
 * Returns the seconds by clock minute, the newest first.
 * @param {readonly SecondView[]} seconds
 */
export function minutesOf(seconds) {
  /** @type {Map<number, SecondView[]>} */
  const minutes = new Map();
  for (const one of seconds) {
    const minute = Math.floor(one.second / 60);
    const known = minutes.get(minute);
    if (known === undefined) minutes.set(minute, [one]);
    else known.push(one);
  }
  return [...minutes].sort(([one], [other]) => other - one);
}

/**
 * Returns for each second the mean of it and of those before it.
 * @param {readonly (SecondView | undefined)[]} all
 * @param {(second: SecondView) => number} valueOf
 * @param {number} length
 * @returns {(number | null)[]}
 */
function trailing(all, valueOf, length) {
  let total = 0;
  const values = all.map((one) => one === undefined ? 0 : valueOf(one));
  return values.map((value, at) => {
    total += value - (values[at - length] ?? 0);
    // What remains of many additions and subtractions of parts is not quite nothing.
    return total < 1e-9 ? 0 : total / length;
  });
}

/**
 * Returns for each second its value, or the last one that is known: without calls nothing changed.
 * @param {readonly (SecondView | undefined)[]} all
 * @param {(second: SecondView) => number} valueOf
 * @returns {(number | null)[]}
 */
function carried(all, valueOf) {
  /** @type {number | null} */
  let last = null;
  return all.map((one) => last = one === undefined ? last : valueOf(one));
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
