import { type Figure, figuresIn } from "./figures.ts";
import { type Page, quoted } from "./pages.ts";

/** A figure, or a sentence with a word of a guarantee. */
export type DocumentedPromise =
  & {
    /** `docs/guide/routing.md:12`. */
    readonly place: string;
    /** `500 ms`, `never`. */
    readonly text: string;
    /** The paragraph, the list item or the table row with the promise, with its code. */
    readonly block: string;
  }
  & (
    | { readonly kind: "figure"; readonly figure: Figure }
    | { readonly kind: "guarantee"; readonly sentence: string }
  );

/** The text above one `Shown by` line, or the rest of a heading's text, with what shows it. */
export interface Section {
  /** `docs/guide/routing.md: Labels`. */
  readonly name: string;
  readonly promises: readonly DocumentedPromise[];
  /** Test files and commands: those of a `Shown by` line, and measuring ones of shell blocks. */
  readonly proofs: readonly string[];
}

/** Words of a guarantee: without an exception, with a bound, or in comparison. */
const GUARANTEE_WORDS: readonly string[] = [
  "never|always|exactly|every(?:thing|body|one)?|nothing|nobody|at once|immediately",
  "at most|at least|guarantee[sd]?|ensures?|(?:twice|half|\\w+ times) as|without exception",
  "no (?!longer\\b|more\\b|value\\b)(?:[\\w-]+ ){1,3}(?:is|are|was|has|have|can|may|will|gets?|ever)",
  "cannot (?:be|lose|leak|break|fail|crash)|in no \\w+|only these|to that \\w+ alone|in (?:any|all) cases?|impossible|under no",
  "(?:does|do|will|must) not (?:lose|leak|break|fail|crash|ever|grow|delay|wait|block|appear)|no way to",
  "(?:is|are) not (?:lost|logged|affected|delayed|repeated)|stays? (?:flat|constant)|whatever",
  "all [\\w-]+s (?:is|are|can|will)|in (?:the )?order(?! to\\b)|atomic(?:ally)?|idempotent|automatic(?:ally)?|linearly",
  "without (?:delay|interruption)|outperforms?|lossless|O\\(\\w+",
  "none (?:is|are) (?!left\\b|sent\\b)|not a single|byte for byte|without (?:any loss|loss|fail|overhead)",
  "(?:no|zero) (?:loss|overhead|downtime)|sub-millisecond|(?:faster|better|cheaper) than|fastest",
  "(?:doubles|triples|halves) (?:the|its)|(?:several|many|tens of|hundreds of) (?:thousand|million)s?",
  "survives? (?:an?|any|all|each|every)|unbreakable|(?:constant|linear) time|(?:fully|perfectly) \\w+",
];
const GUARANTEE = new RegExp(`\\b(?:${GUARANTEE_WORDS.join("|")})\\b`, "gi");

/** A command of a shell block that measures or tests, without its comment. */
const MEASURING_COMMAND = /^\.\/scripts\/deno task (?:bench|soak|test)\b[^#]*(?<! )/;

interface Line {
  readonly place: string;
  readonly text: string;
}

/**
 * Returns the sections of a page, each with its promises and their proofs: a `Shown by` line covers
 * what is between it and the line before it, or the heading. Code, and parts that a script writes
 * between two comments, promise nothing.
 */
export function sectionsOf({ path, text }: Page): readonly Section[] {
  const sections: Section[] = [];
  let name = path;
  let lines: Line[] = [];
  let commands: string[] = [];

  function endSection() {
    let promises: DocumentedPromise[] = [];
    for (const block of blocksOf(lines)) {
      const whole = block.map((line) => line.text.trim()).join(" ");
      if (/^Shown by\b/.test(whole)) {
        sections.push({ name, promises, proofs: [...quoted(whole), ...commands] });
        promises = [];
      } else {
        promises.push(...promisesOf(block, whole));
      }
    }
    sections.push({ name, promises, proofs: commands });
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

function promisesOf(lines: readonly Line[], block: string): readonly DocumentedPromise[] {
  const found: DocumentedPromise[] = [];
  for (const sentence of sentencesOf(block)) {
    const prose = proseOf(sentence);
    const place = placeOf(lines, sentence);
    for (const figure of figuresIn(prose)) {
      found.push({ kind: "figure", place, text: figure.text, figure, block });
    }
    const [guarantee] = prose.match(GUARANTEE) ?? [];
    if (guarantee !== undefined) {
      found.push({ kind: "guarantee", place, text: guarantee, sentence, block });
    }
  }
  return found;
}

/** Splits a block at the end of its sentences. The full stops of code end none. */
function sentencesOf(block: string): readonly string[] {
  return block.split(/(?<=[.!?])\s+(?=[A-Z`"*[(])/);
}

/** Returns a text without its code and addresses; code that is only a number is part of it. */
function proseOf(text: string): string {
  return text.replace(/``.*?``/g, "`")
    .replace(/`([^`]*)`/g, (_, code) => /^[\d,.]+$/.test(code) ? code : "`")
    .replace(/\]\([^)]*\)/g, "]").replaceAll("*", "");
}

/** The line in which a sentence begins. */
function placeOf(lines: readonly Line[], sentence: string): string {
  const begin = sentence.slice(0, 30);
  const found = lines.find(({ text }, at) =>
    `${text.trim()} ${lines[at + 1]?.text.trim() ?? ""}`.indexOf(begin) !== -1 &&
    (text.includes(begin.split(" ")[0] ?? ""))
  );
  return (found ?? lines[0])?.place ?? "";
}
