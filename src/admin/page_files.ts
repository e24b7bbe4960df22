import htm from "htm" with { type: "text" };
import preact from "preact" with { type: "text" };
import hooks from "preact/hooks" with { type: "text" };
import uplotStyle from "uplot/dist/uPlot.min.css" with { type: "text" };
import uplot from "uplot/dist/uPlot.iife.min.js" with { type: "text" };
import style from "./page/page.css" with { type: "text" };
import page from "./page/page.html" with { type: "text" };
import script from "./page/page.js" with { type: "text" };

/** A file of the admin page. */
export interface PageFile {
  readonly type: string;
  readonly text: string;
}

const SCRIPT = "text/javascript; charset=utf-8", STYLE = "text/css; charset=utf-8";

/** Returns the text of a library without the line that names its source map, which is not served. */
function library(text: string): string {
  return text.replace(/\n?\/\/# sourceMappingURL=\S+\s*$/, "\n");
}

/** Files of the admin page by path. This module is loaded only while the listener is on. */
export const PAGE_FILES: ReadonlyMap<string, PageFile> = new Map<string, PageFile>([
  ["/", { type: "text/html; charset=utf-8", text: page }],
  ["/page.css", { type: STYLE, text: style }],
  ["/page.js", { type: SCRIPT, text: script }],
  ["/lib/preact.js", { type: SCRIPT, text: library(preact) }],
  ["/lib/preact-hooks.js", { type: SCRIPT, text: library(hooks) }],
  ["/lib/htm.js", { type: SCRIPT, text: library(htm) }],
  ["/lib/uplot.js", { type: SCRIPT, text: library(uplot) }],
  ["/lib/uplot.css", { type: STYLE, text: uplotStyle }],
]);
