import {
  anchorOf,
  type Document,
  INDEX,
  parseIndex,
  readDocuments,
  sitePath,
  titleOf,
} from "./documents.ts";
import { framedPage } from "./layout.ts";
import { brokenLinks } from "./links.ts";

// Makes a web site of docs/ in the folder out/site, or in the one of the first argument. Fails on a
// broken link. It runs without the configuration of the repository, with a lock file of this
// folder: what it imports is in no other lock file. The specifiers are variables, so that only this
// program downloads the packages.

const MARKDOWN: string = "npm:markdown-it@15.0.3";
const SEARCH: string = "npm:minisearch@7.2.0";

const ROOT = new URL("../../", import.meta.url).pathname;
const DOCS = `${ROOT}docs`;
const ASSETS = `${ROOT}scripts/site/assets`;

/** A token of the Markdown parser, as far as it is used here. */
interface Token {
  readonly type: string;
  readonly tag: string;
  readonly content: string;
  readonly children: readonly Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

/** A section of a page, which the search finds. */
interface Section {
  readonly id: string;
  readonly title: string;
  readonly heading: string;
  text: string;
}

const { default: MarkdownIt } = await import(MARKDOWN);
const { default: MiniSearch } = await import(SEARCH);
// The text of the module, which the browser loads as it is.
const library: { readonly default: string } = await import(SEARCH, { with: { type: "text" } });

const markdown = new MarkdownIt({ html: false, linkify: false });
// Wide tables scroll by themselves; the keyboard reaches them too.
markdown.renderer.rules.table_open = () =>
  '<div class="wide" tabindex="0" role="group" aria-label="Table">\n<table>\n';
markdown.renderer.rules.table_close = () => "</table>\n</div>\n";
markdown.renderer.rules.fence = (tokens: readonly Token[], at: number) =>
  `<pre tabindex="0"><code>${markdown.utils.escapeHtml(tokens[at]?.content ?? "")}</code></pre>\n`;

/** Returns a page of the site and its sections. */
function rendered(document: Document) {
  const path = sitePath(document.path);
  const title = titleOf(document);
  const tokens: readonly Token[] = markdown.parse(document.text, {});
  const headings: { readonly id: string; readonly text: string }[] = [];
  const sections: Section[] = [];
  const ids = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    if (token.type === "heading_open") {
      const text = plainText(tokens[index + 1]);
      const id = uniqueId(anchorOf(text), ids);
      token.attrSet("id", id);
      if (token.tag === "h2") headings.push({ id, text });
      const isTitle = token.tag === "h1";
      const heading = isTitle ? "" : text;
      sections.push({ id: isTitle ? path : `${path}#${id}`, title, heading, text: "" });
    } else if (token.type === "inline" || token.type === "fence") {
      for (const child of token.children ?? []) rewriteLink(child);
      const section = sections.at(-1);
      if (section !== undefined) section.text += `${plainText(token)}\n`;
    }
  }
  const body: string = markdown.renderer.render(tokens, markdown.options, {});
  return { page: { path, title, body, headings }, sections };
}

function plainText(token: Token | undefined): string {
  return token?.children?.map(({ content }) => content).join("") ?? token?.content ?? "";
}

function uniqueId(anchor: string, ids: Set<string>): string {
  let id = anchor;
  for (let count = 1; ids.has(id); count++) id = `${anchor}-${count}`;
  ids.add(id);
  return id;
}

/** Lets links between pages of the documentation lead to pages of the site. */
function rewriteLink(token: Token): void {
  const target = token.attrGet("href");
  if (target === null || /^[a-z]+:/.test(target)) return;
  token.attrSet("href", target.replace(/(?:\bREADME)?\.md(?=#|$)/, (found) => sitePath(found)));
}

/** Returns the index that the search in the browser loads. */
function searchIndex(sections: readonly Section[]): string {
  const index = new MiniSearch({
    fields: ["title", "heading", "text"],
    storeFields: ["title", "heading"],
  });
  index.addAll(sections);
  return JSON.stringify(index);
}

/** Returns the files of a folder with their paths in the site. */
function filesIn(folder: string, within: string): readonly (readonly [string, string])[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory
      ? filesIn(`${folder}/${name}`, `${within}${name}/`)
      : [[`${within}${name}`, `${folder}/${name}`] as const]
  );
}

function write(path: string, content: string | Uint8Array): void {
  Deno.mkdirSync(path.replace(/\/[^/]*$/, ""), { recursive: true });
  if (typeof content === "string") Deno.writeTextFileSync(path, content);
  else Deno.writeFileSync(path, content);
}

const [output = `${ROOT}out/site`] = Deno.args;
const documents = readDocuments(DOCS);
const groups = parseIndex(documents.find(({ path }) => path === INDEX)?.text ?? "");
const all = documents.map(rendered);
const pages = new Map(all.map(({ page }) => [page.path, framedPage(page, groups)]));
const texts = new Map<string, string>([
  ["assets/minisearch.js", library.default.replace(/\n\/\/# sourceMappingURL=.*/, "")],
  ["assets/search.json", searchIndex(all.flatMap(({ sections }) => sections))],
]);
const copies = [
  ...filesIn(ASSETS, "assets/"),
  ...filesIn(DOCS, "").filter(([path]) => !path.endsWith(".md")),
];
const broken = brokenLinks(
  new Map<string, string | null>([
    ...pages,
    ...[...texts.keys(), ...copies.map(([path]) => path)].map((path) => [path, null] as const),
  ]),
);
if (broken.length > 0) {
  console.error(`Broken links:\n${broken.join("\n")}`);
  Deno.exit(1);
}
await Deno.remove(output, { recursive: true }).catch(() => {});
for (const [path, text] of [...pages, ...texts]) write(`${output}/${path}`, text);
for (const [path, source] of copies) write(`${output}/${path}`, Deno.readFileSync(source));
console.log(`${output} has ${pages.size} pages.`);
