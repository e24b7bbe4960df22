import { isPrivateHost } from "./address.ts";
import { isUnnamed, type Secret, type Variables } from "./variables.ts";

/** Maximum length of a key that is shorter than those of any provider. */
const MAX_PLACEHOLDER_CHARS = 15;

/**
 * Returns the key of a provider in the form of our file; `wanted` is a name for the variable of a
 * literal. A short text for a host that checks none is no secret, and left out.
 */
export function readKey(
  written: string,
  host: string | null,
  wanted: string,
  variables: Variables,
): Secret {
  const isPlaceholder = variables.reference(written) === null && !isUnnamed(written) &&
    host !== null && isPrivateHost(host) && written.length <= MAX_PLACEHOLDER_CHARS;
  if (!isPlaceholder) return variables.secret(written, wanted);
  const note =
    "left out, because it is short and the host is private: set api_key if the host checks it";
  return { text: null, note };
}
