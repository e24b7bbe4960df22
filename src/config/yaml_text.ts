import { visible } from "../core/visible_text.ts";

/** Pattern of texts that YAML reads as text without quotes. */
const PLAIN = /^[A-Za-z][A-Za-z0-9._-]*$/;

/** Words that YAML 1.1 or 1.2 reads as a boolean or as nothing. */
const WORDS = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

/**
 * Returns a text as a YAML scalar: plain if that is safe, else in JSON quotes, which YAML accepts.
 * Control characters and marks that change the direction of text are escaped.
 */
export function yamlText(text: string): string {
  return PLAIN.test(text) && !WORDS.test(text) ? text : quotedText(text);
}

/** Returns a text in JSON quotes without any character that a terminal acts on. */
function quotedText(text: string): string {
  return visible(JSON.stringify(text));
}
