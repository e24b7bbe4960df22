/** A page of the documentation as Markdown. */
export interface Document {
  /** Path below `docs/`, such as `guide/routing.md`. */
  readonly path: string;
  readonly text: string;
}

/** A group of pages in the index of the documentation. */
export interface Group {
  readonly title: string;
  readonly links: readonly { readonly title: string; readonly path: string }[];
}

/** The index of the documentation, which becomes the first page of the site. */
export const INDEX = "README.md";

/** Comments between paragraphs, which name the tests that show a figure. */
const COMMENT = /^<!--[\s\S]*?-->\n/gm;

/** Returns the pages in a folder and its folders, without their comments. */
export function readDocuments(folder: string, within = ""): readonly Document[] {
  return [...Deno.readDirSync(`${folder}/${within}`)].flatMap(({ name, isDirectory }) => {
    const path = `${within}${name}`;
    if (isDirectory) return readDocuments(folder, `${path}/`);
    if (!name.endsWith(".md")) return [];
    const text = Deno.readTextFileSync(`${folder}/${path}`).replace(COMMENT, "");
    return [{ path, text }];
  }).toSorted((a, b) => a.path.localeCompare(b.path));
}

/** Returns the groups of the index: the links of each list, below their heading. */
export function parseIndex(text: string): readonly Group[] {
  return text.split(/^## /m).slice(1).map((part) => {
    const [title = ""] = part.split("\n");
    const links = [...part.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)]
      .map(([, title = "", path = ""]) => ({ title, path }));
    return { title, links };
  });
}

/** Returns the path of a page in the site. */
export function sitePath(path: string): string {
  return path === INDEX ? "index.html" : path.replace(/\.md$/, ".html");
}

/** Returns the title of a page: its first heading. */
export function titleOf({ text }: Document): string {
  return /^# (.+)$/m.exec(text)?.[1] ?? "";
}

/** Returns the anchor of a heading, as repositories of Markdown have it. */
export function anchorOf(heading: string): string {
  return heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-");
}
