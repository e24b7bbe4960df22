/**
 * Pattern of strings and comments in JSON with comments. One without an end reaches to the end of
 * the text: from each later quote or slash, the search for an end would read the rest again.
 */
const PIECES =
  /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|'(?:[^'\\]|\\[\s\S])*(?:'|\\?$)|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

/** True for a comment that ends; the last slash of three characters does not end one. */
function isComment(piece: string): boolean {
  return piece.startsWith("//") ||
    piece.startsWith("/*") && piece.endsWith("*/") && piece.length > 3;
}

/**
 * Returns JSON without its comments, with every character at its place. A YAML parser reads what is
 * left, trailing commas too.
 */
export function withoutComments(text: string): string {
  return text.replace(
    PIECES,
    (piece) => isComment(piece) ? piece.replace(/[^\n]/g, " ") : piece,
  );
}
