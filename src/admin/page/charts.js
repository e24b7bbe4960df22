// @ts-check
/// <reference lib="dom" />
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { clock } from "./format.js";
import { alignSeconds, CHARTS, legendValue, minutesOf } from "./series.js";
import { Section, Table, view } from "./ui.js";
/** @import uPlot from "uplot" */
/** @import { Feed } from "./feed.js" */
/** @import { Chart } from "./series.js" */

/** Dashes of the second line of a chart and those after it. */
const DASHES = [[], [4, 3], [1, 3], [8, 3, 1, 3]];

const DARK = matchMedia("(prefers-color-scheme: dark)");

/** The library is a plain script, which defines a global name. */
const { uPlot: Plot } = /** @type {{ uPlot: typeof uPlot }} */ (/** @type {any} */ (globalThis));

/**
 * Returns the charts of the last 15 minutes, each with its numbers and a table.
 * @param {{ feed: Feed, atMs: number, uptimeMs: number }} props
 */
export function Charts({ feed, atMs, uptimeMs }) {
  const { times, began, all } = useMemo(
    () => alignSeconds(feed.seconds, atMs, uptimeMs),
    [feed.seconds, atMs],
  );
  const [isDark, setDark] = useState(DARK.matches);
  useEffect(() => {
    const change = () => setDark(DARK.matches);
    DARK.addEventListener("change", change);
    return () => DARK.removeEventListener("change", change);
  }, []);
  return view`<${Section} id="charts" title="Last 15 minutes" note="Each second; rates are the mean of five seconds.">
    <div class="charts">${
    CHARTS.map((chart) =>
      view`<${ChartView} key=${chart.id} chart=${chart} times=${times} values=${
        chart.values(all)
      } seconds=${feed.seconds} began=${began} isDark=${isDark} />`
    )
  }</div>
  <//>`;
}

/**
 * @param {{ chart: Chart, times: number[], values: (number | null)[][], seconds: Feed["seconds"], began: number, isDark: boolean }} props
 */
function ChartView({ chart, times, values, seconds, began, isDark }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const plot = useRef(/** @type {uPlot | null} */ (null));
  /** Index of the second under the pointer. */
  const [pointed, setPointed] = useState(/** @type {number | null} */ (null));
  /** Data that a chart out of sight draws once it is visible. */
  const latest = useRef(/** @type {uPlot.AlignedData} */ ([times, ...values]));
  const isSeen = useRef(true);
  latest.current = /** @type {uPlot.AlignedData} */ ([times, ...values]);

  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const drawn = new Plot(optionsOf(chart, element, setPointed), latest.current, element);
    plot.current = drawn;
    const watch = new ResizeObserver(() => {
      drawn.setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    watch.observe(element);
    const sight = new IntersectionObserver((changes) => {
      const wasSeen = isSeen.current;
      isSeen.current = changes.at(-1)?.isIntersecting ?? true;
      if (isSeen.current && !wasSeen) drawn.setData(latest.current);
    });
    sight.observe(element);
    return () => {
      watch.disconnect();
      sight.disconnect();
      drawn.destroy();
    };
  }, [isDark]);

  useEffect(() => {
    if (isSeen.current) plot.current?.setData(latest.current);
  }, [times]);

  const at = pointed ?? times.length - 1;
  const numbers = chart.lines.map((name, line) =>
    `${name} ${valueText(chart, legendValue(chart, values[line] ?? [], pointed))}`
  );
  return view`<figure class="chart">
    <figcaption><h3>${chart.title} <span class="note">${chart.unit}</span></h3>
      <p class="legend">${
    numbers.map((number, line) => view`<span class="line${line + 1}">${number}</span>`)
  }${pointed !== null && view`<span class="note">${clock((times[at] ?? 0) * 1000)}</span>`}</p>
    </figcaption>
    <div class="plot" ref=${place} role="img" aria-label="${chart.title} ${chart.unit}, line chart of the last 15 minutes. Now: ${
    numbers.join(", ")
  }."></div>
    <${ChartTable} chart=${chart} seconds=${seconds} last=${times.at(-1) ?? 0} began=${began} />
  </figure>`;
}

/**
 * Returns the table of a chart, which has rows only while it is open.
 * @param {{ chart: Chart, seconds: Feed["seconds"], last: number, began: number }} props
 */
function ChartTable({ chart, seconds, last, began }) {
  const [isOpen, setOpen] = useState(false);
  return view`<details onToggle=${/** @param {Event} event */ (event) =>
    setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
    <summary>Table<span class="hidden"> of ${chart.title}, by minute</span></summary>
    ${
    isOpen && view`<${Table} caption="${chart.title} by minute" columns=${[
      "Minute",
      ...(chart.columns ?? chart.lines).map((name) => `#${name}`),
    ]}>${
      minutesOf(seconds, last, began).map((part) =>
        view`<tr key=${part.minute}><th scope="row">${
          clock(part.minute * 60_000).slice(0, 5)
        }</th>${
          chart.ofMinute(part).map((value) =>
            view`<td class="number">${valueText(chart, value)}</td>`
          )
        }</tr>`
      )
    }<//>`
  }
  </details>`;
}

/**
 * @param {Chart} chart
 * @param {number | null} value
 */
function valueText(chart, value) {
  return value === null ? "–" : chart.text(value);
}

/**
 * @param {Chart} chart
 * @param {HTMLElement} element
 * @param {(at: number | null) => void} onPoint
 * @returns {uPlot.Options}
 */
function optionsOf(chart, element, onPoint) {
  const style = getComputedStyle(element);
  /** @param {string} name */
  const colour = (name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--quiet"),
    font: "11px system-ui, sans-serif",
    grid: { stroke: colour("--grid"), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth || 300,
    height: element.clientHeight,
    legend: { show: false },
    cursor: {
      sync: { key: "charts" },
      drag: { x: false, y: false },
      points: { size: 6 },
    },
    scales: {
      x: { time: true },
      y: { range: (_plot, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        size: 24,
        space: 60,
        values: (_plot, ticks) => ticks.map((at) => clock(at * 1000).slice(0, 5)),
      },
      { ...axis, size: 62, space: 34, values: (_plot, ticks) => ticks.map(chart.text) },
    ],
    series: [
      {},
      ...chart.lines.map((_, line) => ({
        stroke: colour(`--line${line + 1}`),
        width: 1.5,
        spanGaps: true,
        points: { show: false },
        ...line === 0 ? {} : { dash: DASHES[line] ?? [] },
        ...chart.lines.length === 1 ? { fill: colour("--fill") } : {},
      })),
    ],
    hooks: { setCursor: [({ cursor: { idx = null } }) => onPoint(idx)] },
  };
}
