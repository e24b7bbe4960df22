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
  /\b(?:Deno\.test|browserTest|[\w.]*\.step|test\w*)\(\s*(?:\{\s*name: )?("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;

/** Returns the titles of the tests in a file; what a template inserts is left out. */
export function titlesIn(text: string): readonly string[] {
  return [...text.matchAll(TITLE)].map(([, quoted = ""]) =>
    quoted.slice(1, -1).replace(/\$\{[^}]*\}/g, " ")
  );
}
