/** Pattern of strings, comments and tabs in JSON with comments. */
const PIECES = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\t/g;

/**
 * Returns JSON without its comments, with every character at its place. A YAML parser reads what is
 * left, trailing commas too; tabs between values become blanks, because YAML refuses them in the
 * indentation.
 */
export function withoutComments(text: string): string {
  return text.replace(PIECES, (piece) => {
    if (piece === "\t") return " ";
    return piece.startsWith("/") ? piece.replace(/[^\n]/g, " ") : piece;
  });
}
