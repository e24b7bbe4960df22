/**
 * Returns the text under which an ID is stored. SQLite ends a text at a NUL, and UTF-8 has no
 * ill-formed Unicode, so such IDs are stored as JSON, which begins with a quote. Different IDs have
 * different texts.
 */
export function keyText(id: string): string {
  const isPlain = id.isWellFormed() && !id.includes("\0") && !id.startsWith('"');
  return isPlain ? id : JSON.stringify(id);
}

/** Returns the ID that is stored under a text. */
export function idOfKeyText(text: string): string {
  return text.startsWith('"') ? JSON.parse(text) : text;
}
