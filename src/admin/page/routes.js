// @ts-check
import { counted, duration, percent, whole } from "./format.js";
import { Explain } from "./explain.js";
import { Bar, EmptyRow, kept, Name, Section, Table, view } from "./ui.js";
/** @import { RouteView, TargetView } from "../snapshot.ts" */

const COLUMNS = [
  "Route",
  "Target",
  "#Share",
  "Served",
  "#Calls",
  "#Failed",
  "#Cached",
  "#First content p50 / p95 / p99",
];

/** Rows of a route, drawn again when its data changed. */
const RouteRows = kept(rowsOf);

/** Returns the routes in the order of the file, and the form that explains them. */
export const Routes = kept(
  /** @param {{ routes: readonly RouteView[] }} props */
  ({ routes }) =>
    view`<${Section} id="routes" title="Routes" note="The first route that matches serves a call. Calls of the last 15 minutes.">
    <${Table} caption="Routes and their targets" columns=${COLUMNS}>
      ${routes.map((route) => view`<${RouteRows} key=${route.name} route=${route} />`)}
      ${
      routes.length === 0 &&
      view`<${EmptyRow} columns=${COLUMNS.length}>No route is configured. Add one under routing.routes in the configuration.<//>`
    }
    <//>
    <${Explain} />
  <//>`,
);

/** @param {{ route: RouteView }} props */
function rowsOf(
  { route: { name, match, strategy, calls, failed, early = 0, targets, fallbacks } },
) {
  const rows = [
    ...targets.map((target) => ({ target, isFallback: false })),
    ...fallbacks.map((target) => ({ target, isFallback: true })),
  ];
  return view`${
    rows.map(({ target, isFallback }, at) =>
      view`<tr key=${at} class=${at === 0 ? "first" : "next"}>
        ${
        at === 0 && view`<th scope="rowgroup" rowspan=${rows.length}><${Name} text=${name} />
          <span class="match">${match}</span><span class="note">${strategy}${
          calls > 0 &&
          view`; ${counted(calls, "call")}, ${
            failed === 0 ? "none failed" : `${failedText({ calls, failed })} failed`
          }${early > 0 && `, ${percent(early / calls)} with an early head`}`
        }</span></th>`
      }
        <td><${Target} target=${target} />${
        isFallback && view` <span class="note">fallback</span>`
      }</td>
        <td class="number">${isFallback ? "–" : percent(target.share)}</td>
        <td>${
        target.servedShare === null
          ? view`<span class="none">–</span>`
          : view`<span class="outcomes"><${Bar} share=${target.servedShare} /><span>${
            percent(target.servedShare)
          }</span></span>`
      }</td>
        <td class="number">${whole(target.calls)}</td>
        <td class="number">${failedText(target)}</td>
        <td class="number">${cachedText(target)}</td>
        <td class="number">${firstContentText(target)}</td>
      </tr>`
    )
  }`;
}

/**
 * Returns the calls that failed, with their share; an older gateway does not count them.
 * @param {{ calls: number, failed?: number }} counts
 */
function failedText({ calls, failed = 0 }) {
  return failed === 0 ? "0" : `${whole(failed)} (${percent(failed / calls)})`;
}

/**
 * Returns the share of the input that the prompt cache had; an older gateway does not count it.
 * @param {{ cachedShare?: number | null }} target
 */
function cachedText({ cachedShare = null }) {
  return cachedShare === null ? "–" : percent(cachedShare);
}

/**
 * Returns the times to the first content of streams, by which a limit for it is set; an older
 * gateway has none.
 * @param {{ firstContent?: TargetView["firstContent"] }} target
 */
function firstContentText({ firstContent }) {
  if (firstContent === undefined || firstContent.p50Ms === null) return "–";
  const { p50Ms, p95Ms, p99Ms } = firstContent;
  return `${duration(p50Ms)} / ${duration(p95Ms)} / ${duration(p99Ms)}`;
}

/** @param {{ target: TargetView }} props */
function Target({ target: { provider, model } }) {
  return view`<${Name} text=${provider} /><span class="slash">/</span>${
    model === null
      ? view`<span class="none">model of the request</span>`
      : view`<${Name} text=${model} />`
  }`;
}
