// @ts-check

/** Characters of a name that are shown before it is cut. */
const MAX_NAME_CHARS = 120;

/**
 * Control characters, those that change the direction of the text around them, and those that are
 * drawn as nothing or a blank: a name of a client must not rearrange what the page says about it,
 * nor look like another name. Joiners and the two presentations of emoji are part of words and
 * emoji.
 */
const HIDDEN =
  /[[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]--[\t\n\u200c\u200d\ufe0e\ufe0f]]/gv;

/**
 * Returns the text with hidden characters written as their code, such as `\u202e`. One beyond the
 * first plane is written as its two code units: in a command whose body is JSON it remains the same
 * character.
 * @param {string} text
 */
export function visible(text) {
  return text.replace(
    HIDDEN,
    (character) =>
      character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
        .join(""),
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
