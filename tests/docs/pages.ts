const ROOT = new URL("../../", import.meta.url);

/** A Markdown file of the repository that explains it. */
export interface Page {
  /** Relative to the top of the repository. */
  readonly path: string;
  readonly text: string;
}

/** The README, CONTRIBUTING and every page of `docs/`. */
export const pages: readonly Page[] = await Promise.all(
  ["README.md", "CONTRIBUTING.md", ...pathsIn("docs")].map(async (path) => ({
    path,
    text: await Deno.readTextFile(new URL(path, ROOT)),
  })),
);

function pathsIn(folder: string): string[] {
  return [...Deno.readDirSync(new URL(`${folder}/`, ROOT))].toSorted((a, b) =>
    a.name.localeCompare(b.name)
  ).flatMap(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return isDirectory ? pathsIn(path) : name.endsWith(".md") ? [path] : [];
  });
}

/** The text of one page. */
export function pageText(path: string): string {
  const page = pages.find((one) => one.path === path);
  if (page === undefined) throw new Error(`there is no page ${path}`);
  return page.text;
}

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The page and, behind `#`, the heading of the second level above the block. */
  readonly section: string;
  /** `docs/guide/clients.md:12`. */
  readonly place: string;
}

/** Every fenced block of every page, in order; the indentation of a list around it is removed. */
export const blocks: readonly Block[] = pages.flatMap(blocksOf);

/** The fenced blocks of one page. */
export function blocksOf({ path, text }: Page): readonly Block[] {
  const found: Block[] = [];
  let section = path;
  let open: { readonly indent: string; readonly language: string; readonly place: string } | null =
    null;
  let lines: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const [, indent, language] = /^( *)```(.*)$/.exec(line) ?? [];
    if (open === null) {
      const heading = /^## (.+)$/.exec(line)?.[1];
      if (heading !== undefined) section = `${path}#${heading}`;
      if (indent === undefined || language === undefined) continue;
      open = { indent, language, place: `${path}:${index + 1}` };
      lines = [];
    } else if (indent === open.indent && language === "") {
      found.push({ ...open, text: lines.map((one) => `${one}\n`).join(""), section });
      open = null;
    } else {
      lines.push(line.slice(open.indent.length));
    }
  }
  return found;
}

/** The blocks of a language. */
export function blocksIn(language: string): readonly Block[] {
  return blocks.filter((block) => block.language === language);
}

/** Whether a YAML block is for Kubernetes; every other one is a configuration. */
export function isManifest({ text }: Block): boolean {
  return text.startsWith("apiVersion:");
}

/** A text without its fenced blocks. */
export function proseOf(text: string): string {
  return text.replace(/^ *```[\s\S]*?^ *```/gm, "");
}

/**
 * The value that each variable of an example has; a key of the state and the secret of tokens are
 * 32 bytes in base64.
 */
export function variable(name: string): string {
  return /(?:STATE_KEY|PRIVACY_SECRET)$/.test(name) ? btoa(name.padEnd(32, ".")) : `key-of-${name}`;
}

const GENERAL = "docs/guide/getting-started.md#The configuration file";

/**
 * The configuration that the reader of a section has: that of the section, completed by the general
 * one.
 */
export function configIn(section: string): string {
  const configs = blocksIn("yaml").filter((block) => !isManifest(block));
  const whole = configs.find((block) => block.section === GENERAL)?.text ?? "";
  const own = configs.find((block) => block.section === section)?.text ?? "";
  return own.includes("routing:") ? own : own + whole;
}

/** The file of another gateway that the reader of a section has; empty if there is none. */
export function sourceIn(section: string): string {
  return blocks.find((block) =>
    block.section === section && ["yml", "jsonc"].includes(block.language)
  )?.text ?? "";
}

/** The rows of the first table of a text, as the texts of their cells. */
export function tableIn(text: string): readonly (readonly string[])[] {
  const [, table = ""] = /\n(\|.*\n\|[ :|-]+\n(?:\|.*\n)+)/.exec(text) ?? [];
  const rows = table.trim().split("\n").slice(2);
  return rows.map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
}

/** The texts in backticks. */
export function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, inner = ""]) => inner);
}
