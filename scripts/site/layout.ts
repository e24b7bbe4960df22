import { type Group, INDEX, sitePath } from "./documents.ts";

/** Content of the frame of a page. */
export interface Framed {
  /** Path of the page in the site. */
  readonly path: string;
  readonly title: string;
  /** The page as HTML. */
  readonly body: string;
  readonly headings: readonly { readonly id: string; readonly text: string }[];
}

/** Returns a page of the site: the content with the frame around it. */
export function framedPage(page: Framed, groups: readonly Group[]): string {
  const { path, title, body, headings } = page;
  const root = "../".repeat(path.split("/").length - 1) || "./";
  const name = path === sitePath(INDEX) ? "Switchyard" : `${escaped(title)} – Switchyard`;
  return `<!DOCTYPE html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}assets/site.css">
<script src="${root}assets/colours.js"></script>
<script type="module" src="${root}assets/search.js"></script>
</head>
<body>
<a class="skip" href="#content">To the content</a>
<header>
<a class="name" href="${root}index.html">Switchyard</a>
<a class="menu" href="#pages">Pages</a>
<search>
<input id="search" type="search" placeholder="Search  /" aria-label="Search the documentation" autocomplete="off">
<div id="results" role="region" aria-label="Search results" aria-live="polite" hidden></div>
</search>
<button id="colours" type="button" aria-label="Dark colours" aria-pressed="false">◐</button>
</header>
<main id="content" tabindex="-1">
${body}</main>
${outline(headings)}<nav id="pages" aria-label="Pages">
${groups.map((group) => groupText(group, path, root)).join("")}</nav>
</body>
</html>
`;
}

/** Returns the list of the sections of a page; empty for a short page. */
function outline(headings: Framed["headings"]): string {
  if (headings.length < 3) return "";
  const items = headings.map(({ id, text }) => `<li><a href="#${id}">${escaped(text)}</a></li>\n`);
  return `<nav class="outline" aria-label="On this page">\n<ul>\n${items.join("")}</ul>\n</nav>\n`;
}

function groupText({ title, links }: Group, path: string, root: string): string {
  const items = links.map((link) => {
    const target = sitePath(link.path);
    const current = target === path ? ' aria-current="page"' : "";
    return `<li><a href="${root}${target}"${current}>${escaped(link.title)}</a></li>\n`;
  });
  return links.length === 0 ? "" : `<h2>${escaped(title)}</h2>\n<ul>\n${items.join("")}</ul>\n`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
