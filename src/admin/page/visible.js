// @ts-check

/** Characters of a name that are shown before it is cut. */
const MAX_NAME_CHARS = 120;

/**
 * Control characters, those that change the direction of the text around them, and those without
 * width: a name of a client must not rearrange what the page says about it, nor look like another
 * name. Joiners are part of words and emoji.
 */
const HIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

/**
 * Returns the text with hidden characters written as their code, such as `\u202e`.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(
    HIDDEN,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Returns a name that fits into a cell. No character is cut in two.
 * @param {string} text
 */
export function cut(text) {
  if (text.length <= MAX_NAME_CHARS) return text;
  return `${text.slice(0, MAX_NAME_CHARS).replace(/[\ud800-\udbff]$/, "")}…`;
}
