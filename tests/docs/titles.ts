/** Words that connect others, and those that nearly every sentence about the gateway has. */
const COMMON = new Set(
  ("a an the of to in on at by for from with without and or not no nor but if is are was were be been has have had do does " +
    "it its they them their this that these those there then than as so such which who what when where while until " +
    "after before only also too may can cannot will would must should each every all any both one other another same own " +
    "more most less least never always nothing none exactly into over under out up via behind between because whose how " +
    "through again still even well like gets get got gateway switchyard").split(" "),
);

const ENDINGS = /(?:ations?|ments?|ness|ings?|ions?|ed|es|ers?|ly|al|s|e)$/;

/** Returns the words of a text that say what it is about, without their endings. */
export function wordsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().match(/[a-z]+|\d+/g) ?? [];
  return new Set(
    words.filter((word) => !COMMON.has(word) && (word.length > 2 || /\d/.test(word))).map(stemOf),
  );
}

function stemOf(word: string): string {
  const stem = word.replace(ENDINGS, "").replace(ENDINGS, "").replace(/(.)\1$/, "$1")
    .replace(/(?:i|y)$/, "");
  return stem.length < 3 ? word : stem;
}

/** The beginning of a call that declares a test, with its title on this line or the next. */
const TITLE =
  /\b(?:Deno\.test|\w*\.step|\w*[tT]est\w*)\(\s*(?:\{\s*name: )?("(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`)/g;

/** Returns the titles of the tests in a file; what a template inserts is a blank. */
export function titlesIn(text: string): readonly string[] {
  return [...text.matchAll(TITLE)].map(([, quoted = ""]) =>
    quoted.slice(1, -1).replaceAll('\\"', '"').replace(/\$\{[^}]*\}/g, " ")
  );
}

/** A test, with the words of its title and its path. */
export interface TitledTest {
  readonly path: string;
  readonly title: string;
  readonly words: ReadonlySet<string>;
}

/** Returns the tests in a file. */
export function testsIn(path: string, text: string): readonly TitledTest[] {
  const place = path.replace(/^tests\/|_test\.ts$/g, " ").replaceAll(/[/_]/g, " ");
  return titlesIn(text).map((title) => ({ path, title, words: wordsOf(`${title} ${place}`) }));
}

/** A word of a single title among thousands weighs no more than one of a few. */
const MAX_WEIGHT = 7;
/** A shorter sentence counts as one of this weight, so that it must share most of its words. */
const MIN_SENTENCE_WEIGHT = 12;
/**
 * Measured over this documentation: two thirds of its sentences share as much with a test named below
 * them, and one of twelve with the tests of another page.
 */
const MIN_LIKENESS = 1.25;

/** Compares sentences with titles. Words that many titles have say little. */
export function newTitleComparison(all: readonly TitledTest[]) {
  const counts = new Map<string, number>();
  for (const { words } of all) {
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const weightOf = (word: string) =>
    Math.min(MAX_WEIGHT, Math.log(all.length / (counts.get(word) ?? 1)));
  const sum = (words: Iterable<string>) =>
    [...words].reduce((total, word) => total + weightOf(word), 0);

  return {
    /** True if a title says what the sentence says, as far as shared words show it. */
    isAbout(sentence: string, test: TitledTest): boolean {
      const words = wordsOf(sentence);
      const shared = words.intersection(test.words);
      const whole = Math.sqrt(Math.max(sum(words), MIN_SENTENCE_WEIGHT));
      return shared.size >= 2 && sum(shared) / whole >= MIN_LIKENESS;
    },
  };
}
