/** Pattern of strings and comments in JSON with comments. */
const PIECES = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|\/\/[^\n]*|\/\*[\s\S]*?\*\//g;

/**
 * Returns JSON without its comments, with every character at its place. A YAML parser reads what is
 * left, trailing commas too.
 */
export function withoutComments(text: string): string {
  return text.replace(
    PIECES,
    (piece) => piece.startsWith("/") ? piece.replace(/[^\n]/g, " ") : piece,
  );
}
