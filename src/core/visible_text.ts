/**
 * Characters that would end a line, reorder its text, control a terminal, or show as nothing or a
 * blank.
 */
const UNSEEN =
  /[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]--[\ufe0e\ufe0f]]/gv;

/**
 * Returns a text with each character that a terminal would act on or not show as the escapes of a
 * JSON string, such as `\u001b`: clients choose names. A JSON text without line ends keeps its
 * value.
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** Returns a text of several lines with these characters escaped except its line ends. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN, (char) => char === "\n" ? char : escaped(char));
}

function escaped(char: string): string {
  return char.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
