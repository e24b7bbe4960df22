import type { Refusal } from "../../core/failure/failure.ts";
import { isExactId } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json/json.ts";
import type { Failed } from "../../core/failure/result.ts";
import { foldedName } from "../../access/steering.ts";
import { brokenRule } from "../../prompt/refusals.ts";

/**
 * Returns the refusal of a text that is no valid id or cursor. White space in it is significant.
 */
export function identifierProblem(id: string, param: string): Failed<Refusal> | null {
  return isExactId(id) ? null : brokenRule(param, "must not begin or end with white space");
}

/**
 * Returns the refusal of a member that a server which ignores the case of names reads as one of
 * these. Their IDs decide the owner, and only exact names are looked up.
 */
export function spellingProblem(
  body: JsonObject,
  ...names: readonly string[]
): Failed<Refusal> | null {
  for (const written of Object.keys(body)) {
    const name = foldedName(written);
    if (name === written || !names.includes(name)) continue;
    return brokenRule(written, `must be written as '${name}': some providers ignore the case`);
  }
  return null;
}

// Some servers treat both slashes as the end of a path segment, and dots as a step in the path.
const PATH_SIGN = /[/\\]|\.\.|^\.(?:;|$)/;
const DOT_SEGMENT = /(?:^|[/\\])\.{1,2}(?:;[^/\\]*)?(?:[/\\]|$)/;

/**
 * Number of percent-decodings that are checked; a text that is encoded more often is not a valid
 * id.
 */
const MAX_DECODINGS = 4;

/**
 * Returns the refusal of an id that must not become a part of an upstream's path. An id that an
 * upstream has returned is sent to it encoded, unless it is a dot segment. Any other id must not
 * hold `/`, `\` or `..`, however often they are percent-encoded: a server that decodes the path
 * before it routes the request would serve another path under the gateway's key.
 */
export function pathIdProblem(
  id: string,
  param: string,
  isReturned: boolean,
): Failed<Refusal> | null {
  if (isReturned || !holdsDecoded(PATH_SIGN, id)) return segmentProblem(id, param);
  return brokenRule(
    param,
    "must not hold '/', '\\' or '..', encoded or not: no provider has returned this id",
  );
}

/**
 * Returns the refusal of an item's id that must not become a part of an upstream's path. The
 * gateway does not know which items an upstream has returned, so a slash alone is allowed. A
 * segment of dots between slashes, however encoded, is refused, because it leads out of the list of
 * items.
 */
export function pathItemProblem(id: string, param: string): Failed<Refusal> | null {
  return holdsDecoded(DOT_SEGMENT, id)
    ? brokenRule(param, "must not hold a path segment of dots")
    : null;
}

/**
 * Refuses an id of one or two dots, which the URL standard treats as a step in the path, encoded or
 * not.
 */
function segmentProblem(id: string, param: string): Failed<Refusal> | null {
  return /^\.{1,2}$/.test(id) ? brokenRule(param, "must not be one or two dots") : null;
}

/** True if the pattern is found in the text as it is, or after any number of percent-decodings. */
function holdsDecoded(pattern: RegExp, text: string): boolean {
  let current = text;
  for (let decodings = 0; decodings <= MAX_DECODINGS; decodings++) {
    if (pattern.test(current)) return true;
    const decoded = percentDecoded(current);
    if (decoded === current) return false;
    current = decoded;
  }
  return true;
}

/** Returns the text with a character for each encoded byte: enough to find ASCII signs. */
function percentDecoded(text: string): string {
  return text.replace(
    /%([0-9a-f]{2})/gi,
    (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)),
  );
}
