import { presentedKey } from "../access/presented_key.ts";
import type { Call } from "../call/call.ts";

/** Text in the place of a masked client key. */
const LABEL = "[client_key]";

/** A shorter key may be a common word, so it is masked only where it is a whole value. */
const MIN_WORD_CHARS = 8;

/** Masks the key of a call's client wherever else than in its own header the client has put it. */
export interface ClientKeyMask {
  text(text: string): string;
  /** Masks a JSON text, in which the key may be escaped. */
  json(text: string): string;
  /** Length of the longest form of the key; 0 without one. */
  readonly maxChars: number;
}

/** Returns the mask of the key or the token with which a call was admitted. */
export function newClientKeyMask({ headers, generation, client }: Call): ClientKeyMask {
  const key = client.key === null ? "" : presentedKey(headers, generation.config.security.api_key);
  if (key === "") return { text: (text) => text, json: (text) => text, maxChars: 0 };
  if (key.length < MIN_WORD_CHARS) {
    const masked = (part: string) => part === key ? LABEL : part;
    return { text: (text) => text.split("=").map(masked).join("="), json: masked, maxChars: 0 };
  }
  const escaped = JSON.stringify(key).slice(1, -1);
  const forms = [...new Set([key, escaped, escaped.replaceAll("/", "\\/")])];
  return {
    text: (text) => text.replaceAll(key, LABEL),
    json: (text) => forms.reduce((masked, form) => masked.replaceAll(form, LABEL), text),
    maxChars: Math.max(...forms.map(({ length }) => length)),
  };
}
