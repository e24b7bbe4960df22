import { type Page, quoted } from "./pages.ts";

/** A figure or a word that promises something about the program. */
export interface DocumentedPromise {
  /** `docs/guide/routing.md:12`. */
  readonly place: string;
  /** `500 ms`, `never`. */
  readonly text: string;
}

/** The text under one heading, with what it promises and what shows it. */
export interface Section {
  /** `docs/guide/routing.md: Labels`. */
  readonly name: string;
  readonly promises: readonly DocumentedPromise[];
  /** Test files and commands: those of a `Shown by` line, and measuring ones of shell blocks. */
  readonly proofs: readonly string[];
}

/**
 * A number with a unit of time, size, share or comparison. Numbers without a unit are names: ports,
 * status codes, versions.
 */
const FIGURE = new RegExp(
  String.raw`(?<![\w.,:/-])\d[\d,.]*(?: to \d[\d,.]*)?(?:\s?%|\s?(?:` +
    "ns|µs|ms|s|h|seconds?|minutes?|hours?|days?|bytes?|kB|KB|KiB|MB|MiB|GB|GiB|times|requests/s" +
    String.raw`)(?![\w-]))`,
  "g",
);

/** Words of a guarantee: without an exception, with a bound, or in comparison. */
const GUARANTEE =
  /\b(?:never|always|exactly|every|nothing|at once|at most|at least|guarantees?|(?:twice|\w+ times) as)\b/gi;

/** The value in parentheses behind the name of its key: a default, which the reference explains. */
const DEFAULT_VALUE = /`[\w.*]+`\s?\([^)]*\)/g;

/** A command of a shell block that measures or tests, without its comment. */
const MEASURING_COMMAND = /^\.\/scripts\/deno task (?:bench|soak|test)\b[^#]*(?<! )/;

/**
 * Returns the sections of a page, each with its promises and their proofs. Code, and parts that a
 * script writes between two comments, promise nothing.
 */
export function sectionsOf({ path, text }: Page): readonly Section[] {
  const sections: Section[] = [];
  let name = path;
  let lines: { readonly place: string; readonly text: string }[] = [];
  let commands: string[] = [];

  function endSection() {
    const prose = paragraphsOf(lines);
    const proving = prose.filter((one) => /^Shown by\b/.test(one.map((line) => line.text).join()));
    const promising = prose.filter((one) => !proving.includes(one)).flat();
    sections.push({
      name,
      promises: promising.flatMap(promisesOf),
      proofs: [...proving.flat().flatMap((line) => quoted(line.text)), ...commands],
    });
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

type Line = { readonly place: string; readonly text: string };

function paragraphsOf(lines: readonly Line[]): readonly (readonly Line[])[] {
  const paragraphs: Line[][] = [[]];
  for (const line of lines) {
    if (line.text.trim() === "") paragraphs.push([]);
    else paragraphs.at(-1)?.push(line);
  }
  return paragraphs.filter((one) => one.length > 0);
}

function promisesOf({ place, text }: Line): readonly DocumentedPromise[] {
  const prose = text.replace(DEFAULT_VALUE, "").replace(/`[^`]*`/g, "").replace(
    /\]\([^)]*\)/g,
    "]",
  );
  return [...prose.matchAll(FIGURE), ...prose.matchAll(GUARANTEE)]
    .map(([found]) => ({ place, text: found }));
}

/** Returns a line for each promise of the pages whose section names nothing that shows it. */
export function unshownPromises(pages: readonly Page[]): readonly string[] {
  return pages.flatMap(sectionsOf).filter(({ proofs }) => proofs.length === 0)
    .flatMap(({ name, promises }) =>
      promises.map(({ place, text }) => `${place} "${text}" (${name})`)
    );
}
