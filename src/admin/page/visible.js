// @ts-check

/** Characters of a name that are shown before it is cut. */
const MAX_NAME_CHARS = 120;

/**
 * Control characters, and those that change the direction of the text around them: a name of a
 * client must not rearrange what the page says about it.
 */
const HIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * Returns the text with hidden characters written as their code, such as `\u202e`.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(
    HIDDEN,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Returns a name that fits into a cell.
 * @param {string} text
 */
export function cut(text) {
  return text.length > MAX_NAME_CHARS ? `${text.slice(0, MAX_NAME_CHARS)}…` : text;
}
