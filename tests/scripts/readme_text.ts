/** What the README says. */
export const readme = await Deno.readTextFile(new URL("../../README.md", import.meta.url));

/** A fenced block of the README. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** The heading of the second level above it. */
  readonly section: string;
  /** Its place, counted from 1. */
  readonly line: number;
}

/** Every fenced block of the README, in order; the blanks of a list around it are taken away. */
export const blocks: readonly Block[] = blocksOf(readme);

/** The fenced blocks of a Markdown text. */
export function blocksOf(text: string): readonly Block[] {
  const found: Block[] = [];
  let section = "";
  let open: { readonly indent: string; readonly language: string; readonly line: number } | null =
    null;
  let lines: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    const [, indent, language] = /^( *)```(.*)$/.exec(line) ?? [];
    if (open === null) {
      section = /^## (.+)$/.exec(line)?.[1] ?? section;
      if (indent === undefined || language === undefined) continue;
      open = { indent, language, line: index + 1 };
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

/** The README without its fenced blocks. */
export const prose = readme.replace(/^ *```[\s\S]*?^ *```/gm, "");

/** The prose below a heading of the second level, up to the next one. */
export function sectionText(title: string): string {
  const [, after = ""] = prose.split(`\n## ${title}\n`);
  return after.split(/\n## /)[0] ?? "";
}

/** The value that each variable of an example has. */
export function variable(name: string): string {
  return `key-of-${name}`;
}

/** The configuration that the reader of a section has: its own, completed by the general one. */
export function configIn(section: string): string {
  const configs = blocksIn("yaml").filter((block) => !isManifest(block));
  const whole = configs.find(({ section }) => section === "The configuration file")?.text ?? "";
  const own = configs.find((block) => block.section === section)?.text ?? "";
  return own.includes("routing:") ? own : own + whole;
}

/** The rows of the first table below a heading, as the texts of their cells. */
export function tableIn(title: string): readonly (readonly string[])[] {
  const [, table = ""] = /\n(\|.*\n\|[ :|-]+\n(?:\|.*\n)+)/.exec(sectionText(title)) ?? [];
  const rows = table.trim().split("\n").slice(2);
  return rows.map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()));
}

/** The texts in backticks. */
export function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, inner = ""]) => inner);
}
