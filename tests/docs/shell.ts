import { blocksIn } from "./pages.ts";

/** A command of a shell block. */
export interface ShellCommand {
  /** Variables that are set for this command alone. */
  readonly environment: Readonly<Record<string, string>>;
  /** Words without their quotes; a variable is between two NUL characters. */
  readonly words: readonly string[];
  /** The text after `#`. */
  readonly comment: string;
  readonly section: string;
  /** `docs/guide/routing.md:12`. */
  readonly place: string;
}

/** Every command in the shell blocks of the documentation, in order. */
export const commands: readonly ShellCommand[] = blocksIn("sh").flatMap((
  { text, section, place },
) =>
  commandsOf(text).map(({ words, comment }) => {
    const first = words.findIndex((word) => !/^[A-Z_]+=/.test(word));
    const set = words.slice(0, first).map((word) => word.split(/=(.*)/s, 2));
    const environment = Object.fromEntries(set.map(([name = "", value = ""]) => [name, value]));
    return { environment, words: words.slice(first), comment, section, place };
  })
);

interface Line {
  readonly words: readonly string[];
  readonly comment: string;
}

/**
 * The commands of a text for a shell, one a line unless a quote or a backslash continues: words in
 * quotes of both kinds, variables and comments. More of a shell is not needed here.
 */
export function commandsOf(text: string): readonly Line[] {
  const found: Line[] = [];
  let words: string[] = [];
  let word: string | null = null;
  let comment = "";

  function endWord() {
    if (word !== null) words.push(word);
    word = null;
  }

  const pieces = text.matchAll(
    /\\\n *|'([^']*)'|"([^"]*)"|(?<=\s|^)#([^\n]*)|(\n)|( +)|\$(?:(\w+)|\{(\w+)\})|([^\s'"$])/gs,
  );
  let length = 0;
  for (const [piece, single, double, remark, newline, blanks, name, braced, other] of pieces) {
    length += piece.length;
    if (remark !== undefined) comment = remark.trim();
    else if (blanks !== undefined || piece.startsWith("\\\n")) endWord();
    else if (newline !== undefined) {
      endWord();
      if (words.length > 0) found.push({ words, comment });
      words = [];
      comment = "";
    } else {
      const variable = name ?? braced;
      word = (word ?? "") + (single ?? (double === undefined ? undefined : marked(double)) ??
        (variable === undefined ? other ?? "" : `\0${variable}\0`));
    }
  }
  if (length !== text.length) throw new Error(`not understood as a shell would: ${text}`);
  return found;
}

function marked(text: string): string {
  return text.replace(/\$(?:(\w+)|\{(\w+)\})/g, (_all, plain, braced) => `\0${plain ?? braced}\0`);
}

/** A word in which every variable has its value. */
export function filled(word: string, value: (name: string) => string): string {
  const parts = word.split("\0");
  return parts.map((part, index) => index % 2 === 0 ? part : value(part)).join("");
}
