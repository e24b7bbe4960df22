import htm from "htm" with { type: "text" };
import preact from "preact" with { type: "text" };
import hooks from "preact/hooks" with { type: "text" };
import uplotStyle from "uplot/dist/uPlot.min.css" with { type: "text" };
import uplot from "uplot/dist/uPlot.iife.min.js" with { type: "text" };
import style from "./page/page.css" with { type: "text" };
import page from "./page/page.html" with { type: "text" };
import script from "./page/page.js" with { type: "text" };
import ask from "./page/ask.js" with { type: "text" };
import calls from "./page/calls.js" with { type: "text" };
import charts from "./page/charts.js" with { type: "text" };
import curl from "./page/curl.js" with { type: "text" };
import explain from "./page/explain.js" with { type: "text" };
import feed from "./page/feed.js" with { type: "text" };
import filters from "./page/filters.js" with { type: "text" };
import finished from "./page/finished.js" with { type: "text" };
import format from "./page/format.js" with { type: "text" };
import head from "./page/head.js" with { type: "text" };
import log from "./page/log.js" with { type: "text" };
import keys from "./page/keys.js" with { type: "text" };
import outcome from "./page/outcome.js" with { type: "text" };
import privacy from "./page/privacy.js" with { type: "text" };
import providers from "./page/providers.js" with { type: "text" };
import routes from "./page/routes.js" with { type: "text" };
import send_chat from "./page/send_chat.js" with { type: "text" };
import series from "./page/series.js" with { type: "text" };
import state from "./page/state.js" with { type: "text" };
import timeline from "./page/timeline.js" with { type: "text" };
import tryIt from "./page/try.js" with { type: "text" };
import ui from "./page/ui.js" with { type: "text" };
import visible from "./page/visible.js" with { type: "text" };

/** A file of the admin page. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

const SCRIPT = "text/javascript; charset=utf-8", STYLE = "text/css; charset=utf-8";

/**
 * Returns the text of a library without the line that names its source map, which is not served.
 */
function library(text: string): string {
  return text.replace(/\n?\/\/# sourceMappingURL=\S+\s*$/, "\n");
}

/** Files of the admin page by path. This module is loaded only while the listener is on. */
export const PAGE_FILES: ReadonlyMap<string, PageFile> = new Map<string, PageFile>([
  ["/", { type: "text/html; charset=utf-8", text: page }],
  ["/page.css", { type: STYLE, text: style }],
  ["/page.js", { type: SCRIPT, text: script }],
  ["/ask.js", { type: SCRIPT, text: ask }],
  ["/calls.js", { type: SCRIPT, text: calls }],
  ["/charts.js", { type: SCRIPT, text: charts }],
  ["/curl.js", { type: SCRIPT, text: curl }],
  ["/explain.js", { type: SCRIPT, text: explain }],
  ["/feed.js", { type: SCRIPT, text: feed }],
  ["/filters.js", { type: SCRIPT, text: filters }],
  ["/finished.js", { type: SCRIPT, text: finished }],
  ["/format.js", { type: SCRIPT, text: format }],
  ["/head.js", { type: SCRIPT, text: head }],
  ["/keys.js", { type: SCRIPT, text: keys }],
  ["/log.js", { type: SCRIPT, text: log }],
  ["/outcome.js", { type: SCRIPT, text: outcome }],
  ["/privacy.js", { type: SCRIPT, text: privacy }],
  ["/providers.js", { type: SCRIPT, text: providers }],
  ["/routes.js", { type: SCRIPT, text: routes }],
  ["/send_chat.js", { type: SCRIPT, text: send_chat }],
  ["/series.js", { type: SCRIPT, text: series }],
  ["/state.js", { type: SCRIPT, text: state }],
  ["/timeline.js", { type: SCRIPT, text: timeline }],
  ["/try.js", { type: SCRIPT, text: tryIt }],
  ["/ui.js", { type: SCRIPT, text: ui }],
  ["/visible.js", { type: SCRIPT, text: visible }],
  ["/lib/preact.js", { type: SCRIPT, text: library(preact) }],
  ["/lib/preact-hooks.js", { type: SCRIPT, text: library(hooks) }],
  ["/lib/htm.js", { type: SCRIPT, text: library(htm) }],
  ["/lib/uplot.js", { type: SCRIPT, text: library(uplot) }],
  ["/lib/uplot.css", { type: STYLE, text: uplotStyle }],
]);
