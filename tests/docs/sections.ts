import { type Figure, figuresIn } from "./figures.ts";
import type { Page } from "./pages.ts";

/** A figure of a page. */
export interface DocumentedFigure {
  /** `docs/guide/routing.md:12`. */
  readonly place: string;
  readonly figure: Figure;
  /** The paragraph, the list item or the table row with the figure, with its code. */
  readonly block: string;
}

/** The text above one `shown by` comment, or the rest of a heading's text, with what shows it. */
export interface Section {
  /** `docs/guide/routing.md: Labels`. */
  readonly name: string;
  readonly figures: readonly DocumentedFigure[];
  /** Test files and commands: those of a `shown by` comment, and measuring ones of shell blocks. */
  readonly proofs: readonly string[];
}

/** A command of a shell block that measures or tests, without its comment. */
const MEASURING_COMMAND = /^\.\/scripts\/deno task (?:bench|soak|test)\b[^#]*(?<! )/;

interface Line {
  readonly place: string;
  readonly text: string;
}

/**
 * Returns the sections of a page, each with its figures and their proofs: a `shown by` comment
 * covers what is between it and the comment before it, or the heading. Code, and parts that a
 * script writes between two comments, have no figures.
 */
export function sectionsOf({ path, text }: Page): readonly Section[] {
  const sections: Section[] = [];
  let name = path;
  let lines: Line[] = [];
  let commands: string[] = [];

  function endSection() {
    let figures: DocumentedFigure[] = [];
    for (const block of blocksOf(lines)) {
      const whole = block.map((line) => line.text.trim()).join(" ");
      const shownBy = /^<!-- shown by: (.+) -->$/.exec(whole)?.[1];
      if (shownBy !== undefined) {
        sections.push({ name, figures, proofs: [...shownBy.split(", "), ...commands] });
        figures = [];
      } else {
        figures.push(...documentedFigures(block, whole));
      }
    }
    sections.push({ name, figures, proofs: commands });
    lines = [];
    commands = [];
  }

  let fence: string | null = null;
  let generated: string | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    const [, mark, language = ""] = /^ *(```)(.*)$/.exec(line) ?? [];
    const begun = /^<!-- ([\w ]+): `[^`]+` writes (?:it|them) -->$/.exec(line)?.[1];
    const heading = /^#+ (.+)$/.exec(line)?.[1];
    if (mark !== undefined) {
      fence = fence === null ? language : null;
      lines.push({ place: "", text: "" });
    } else if (fence !== null) {
      if (fence === "sh") commands.push(...MEASURING_COMMAND.exec(line) ?? []);
    } else if (begun !== undefined) {
      generated = begun;
    } else if (line === `<!-- end of ${generated} -->`) {
      generated = null;
    } else if (generated === null && heading !== undefined) {
      endSection();
      name = `${path}: ${heading}`;
    } else if (generated === null) {
      lines.push({ place: `${path}:${index + 1}`, text: line });
    }
  }
  endSection();
  return sections;
}

/** Returns the paragraphs, list items and table rows. */
function blocksOf(lines: readonly Line[]): readonly (readonly Line[])[] {
  const blocks: Line[][] = [[]];
  for (const line of lines) {
    const isRow = line.text.startsWith("|");
    if (isRow || /^ *(?:[-*]|\d+\.) /.test(line.text)) blocks.push([]);
    if (line.text.trim() === "") blocks.push([]);
    else blocks.at(-1)?.push(line);
  }
  return blocks.filter((one) => one.length > 0);
}

/** Returns the figures of a block, each with the line in which its number begins. */
function documentedFigures(lines: readonly Line[], block: string): readonly DocumentedFigure[] {
  const proses = lines.map((line) => proseOf(line.text));
  return figuresIn(proseOf(block)).map((figure) => {
    const [number = ""] = figure.text.split(" ");
    const index = proses.findIndex((prose, at) =>
      prose.includes(number) && `${prose} ${proses[at + 1] ?? ""}`.includes(figure.text)
    );
    return { place: lines[Math.max(index, 0)]?.place ?? "", figure, block };
  });
}

/** Returns a text without its code and addresses; code that is only a number is part of it. */
function proseOf(text: string): string {
  return text.replace(/``.*?``/g, "`")
    .replace(/`([^`]*)`/g, (_, code) => /^[\d,.]+$/.test(code) ? code : "`")
    .replace(/\]\([^)]*\)/g, "]").replaceAll("*", "");
}
