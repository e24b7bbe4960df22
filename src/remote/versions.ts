const VERSION =
  /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/;

const NUMBER = /^\d+$/;

/** A longer text is no version. */
const LONGEST = 128;

/** Whether a text is a version that comes after the running one (Semantic Versioning 2.0, section 11). */
export function isNewer(offered: string, running: string): boolean {
  const [one, other] = [read(offered), read(running)];
  if (one === null || other === null) return false;
  for (const [at, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  // A version comes after all that lead up to it.
  if (one.before.length === 0 || other.before.length === 0) {
    return one.before.length === 0 && other.before.length > 0;
  }
  return isLater(one.before, other.before);
}

function read(text: string) {
  const parts = text.length > LONGEST ? null : VERSION.exec(text);
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
    // Numbers come before words.
    return isNumber === isNumberAgainst ? word > against : isNumberAgainst;
  }
  return false;
}
