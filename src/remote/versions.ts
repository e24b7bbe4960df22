const VERSION =
  /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

const NUMBER = /^\d+$/;

/** Maximum length of a version. */
const MAX_VERSION_CHARS = 128;

/** True if a text is a version newer than the running one (Semantic Versioning 2.0, section 11). */
export function isNewer(offered: string, running: string): boolean {
  const [one, other] = [parseVersion(offered), parseVersion(running)];
  if (one === null || other === null) return false;
  for (const [at, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  // A release is newer than its pre-releases.
  if (one.before.length === 0 || other.before.length === 0) {
    return one.before.length === 0 && other.before.length > 0;
  }
  return isLater(one.before, other.before);
}

function parseVersion(text: string) {
  const parts = text.length > MAX_VERSION_CHARS ? null : VERSION.exec(text);
  if (parts === null) return null;
  const [, major, minor, patch, before] = parts;
  return { numbers: [major, minor, patch].map(Number), before: before?.split(".") ?? [] };
}

function isLater(one: readonly string[], other: readonly string[]): boolean {
  for (const [at, word] of one.entries()) {
    const against = other[at];
    if (against === undefined) return true;
    if (word === against) continue;
    const [isNumber, isNumberAgainst] = [NUMBER.test(word), NUMBER.test(against)];
    if (isNumber && isNumberAgainst) return Number(word) > Number(against);
    // Numeric identifiers are older than alphanumeric ones.
    return isNumber === isNumberAgainst ? word > against : isNumberAgainst;
  }
  return false;
}
