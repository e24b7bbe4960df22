import { isOwnHeader } from "../config/fields.ts";
import { FIELD_NAME, FIELD_VALUE } from "../core/header_fields.ts";
import { membersOf, textOf, type Tree } from "./source.ts";
import { variableName, type Variables } from "./variables.ts";
import type { Written } from "./written_file.ts";
import { SECRET_NAME } from "../core/secret_name.ts";

/**
 * True for a value that may be a secret under any name: a long word of letters and digits, also
 * after a scheme, or a UUID. Versions of APIs have dashes between shorter words.
 */
function mayBeSecret(text: string): boolean {
  const words = text.split(" ");
  const word = words.at(-1) ?? "";
  if (words.length > 2) return false;
  return /^(?:sk-|[\da-f]{8}-[\da-f]{4}-)/.test(word) ||
    [/^\w{16}/, /^\w*\d/, /^\w*[A-Za-z]/].every((pattern) => pattern.test(word));
}

/** Returns the headers of `extra_headers` that can be sent, with variables for secrets. */
export function readHeaders(tree: Tree | undefined, id: string, variables: Variables) {
  const headers: Record<string, Written> = {};
  const used: (readonly [tree: Tree, name: string, note: string])[] = [];
  for (const [name, value] of membersOf(tree)) {
    const text = textOf(value);
    if (text === null || !FIELD_NAME.test(name) || !FIELD_VALUE.test(text)) continue;
    // A key with this name, and headers that the gateway sets, are refused in our file.
    if (name === "__proto__" || isOwnHeader(name)) continue;
    if (Object.keys(headers).some((other) => other.toLowerCase() === name.toLowerCase())) continue;
    const isSecret = SECRET_NAME.test(name) || mayBeSecret(text);
    const wanted = `${id}_${name}`.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
    const secret = isSecret ? variables.secret(text, variableName(wanted, "HEADER")) : null;
    headers[name] = secret?.text ?? variables.text(text);
    used.push([value, name, secret?.note ?? ""]);
  }
  return { headers: used.length > 0 ? headers : null, used };
}
