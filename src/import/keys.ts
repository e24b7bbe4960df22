import { isPrivateHost } from "./address.ts";
import { PREFIXES } from "./litellm_prefixes.ts";
import { isUnnamed, type Secret, variableName, type Variables } from "./variables.ts";

/** Maximum length of a key that is shorter than those of any provider. */
const MAX_PLACEHOLDER_CHARS = 15;

/** The host to which the usual value of a variable belongs. */
const USUAL_HOSTS: ReadonlyMap<string, string> = new Map(
  [...PREFIXES.values()].flatMap(({ variable, address }) =>
    variable === undefined || address === undefined
      ? []
      : [[variable, new URL(address).hostname] as const]
  ),
);

/**
 * Returns the name for a variable that gets the key of a provider from the source; `host` is null
 * if a variable holds it.
 */
export function keyVariable(id: string, host: string | null): string {
  const wanted = PREFIXES.get(id.toLowerCase())?.variable ?? variableName(id, "API_KEY");
  const usual = USUAL_HOSTS.get(wanted);
  // The usual variable of a host may be set already, to the key of that host.
  return usual === undefined || usual === host ? wanted : variableName(`imported-${id}`, "API_KEY");
}

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
