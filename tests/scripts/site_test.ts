import manifest from "../../deno.json" with { type: "json" };
import {
  anchorOf,
  INDEX,
  parseIndex,
  readDocuments,
  sitePath,
  titleOf,
} from "../../scripts/site/documents.ts";
import { framedPage } from "../../scripts/site/layout.ts";
import { brokenLinks } from "../../scripts/site/links.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";

const DOCS = new URL("../../docs", import.meta.url).pathname;
const documents = readDocuments(DOCS);

Deno.test("the site has every page of the documentation in its index, in the order of the groups", () => {
  const groups = parseIndex(documents.find(({ path }) => path === INDEX)?.text ?? "");
  assertEquals(groups.map(({ title }) => title), [
    "Guide",
    "Reference",
    "Operate",
    "Deploy",
    "Develop",
  ]);
  const linked = groups.flatMap(({ links }) => links.map(({ path }) => path));
  const paths = documents.map(({ path }) => path).filter((path) => path !== INDEX);
  assertEquals(linked.toSorted(), paths.toSorted());
  assertEquals(documents.filter((one) => titleOf(one) === ""), []);
  assert(documents.every(({ text }) => !text.includes("<!-- shown by")));
});

Deno.test("a page of the site links by relative paths, and marks itself in the list of pages", () => {
  const groups = [{ title: "Guide", links: [{ title: "A & B", path: "guide/a.md" }] }];
  const page = { path: "guide/a.html", title: "A & B", body: "<p>text</p>\n", headings: [] };
  const text = framedPage(page, groups);
  assertStringIncludes(text, "<title>A &amp; B – Switchyard</title>");
  assertStringIncludes(text, '<a href="../guide/a.html" aria-current="page">A &amp; B</a>');
  assertStringIncludes(text, 'href="../assets/site.css"');
  const first = framedPage({ ...page, path: sitePath(INDEX) }, groups);
  assertStringIncludes(first, '<a href="./guide/a.html">');
});

Deno.test("a link to a missing file or a missing anchor is found, and others are not", () => {
  const files = new Map<string, string | null>([
    ["index.html", '<a href="a/b.html#two">b</a> <img src="a/c.png"> <a href="https://a.example">'],
    ["a/b.html", '<h2 id="two">2</h2><a href="../index.html">i</a><a href="#two">2</a>'],
    ["a/c.png", null],
  ]);
  assertEquals(brokenLinks(files), []);
  const broken = '<a href="b.html#three">3</a><a href="../c.png">c</a><a href="#x">x</a>';
  assertEquals(brokenLinks(new Map([...files, ["a/d.html", broken]])), [
    "a/d.html: b.html#three",
    "a/d.html: ../c.png",
    "a/d.html: #x",
  ]);
});

Deno.test("the anchor of a heading is the one that links in the documentation use", () => {
  assertEquals(anchorOf("Where is `a_b`, and why?"), "where-is-a_b-and-why");
});

Deno.test("nothing of the site is in the imports or the lock file of the repository, and its lock file is frozen", async () => {
  const { site } = manifest.tasks;
  assert(site.includes("--no-config --lock=scripts/site/deno.lock --frozen"), site);
  const lock = await Deno.readTextFile(new URL("../../deno.lock", import.meta.url));
  const own = await Deno.readTextFile(new URL("../../scripts/site/deno.lock", import.meta.url));
  for (const name of ["markdown-it", "minisearch"]) {
    assert(own.includes(`"npm:${name}@`) && !lock.includes(`"${name}@`), name);
    assert(!Object.keys(manifest.imports).includes(name), name);
  }
});
