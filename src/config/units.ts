/** Pattern of a duration; also used in the JSON Schema. */
export const DURATION = /^(?=\d)(?:\d{1,15}h)?(?:\d{1,15}m)?(?:\d{1,15}s)?(?:\d{1,15}ms)?$/;

const UNITS = [["h", 3_600_000], ["m", 60_000], ["s", 1_000], ["ms", 1]] as const;

/** Returns the milliseconds of `250ms`, `30s`, `10m`, `1h` or `1h30m`; null for any other text. */
export function parseDuration(text: string): number | null {
  if (!DURATION.test(text)) return null;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+)(h|ms|m|s)/g)) {
    const size = UNITS.find(([name]) => name === unit)?.[1] ?? 0;
    total += Number(amount) * size;
  }
  return total;
}

/** Returns the shortest duration text for whole milliseconds: 5400000 is `1h30m`, 0 is `0s`. */
export function formatDuration(milliseconds: number): string {
  let rest = milliseconds;
  let text = "";
  for (const [name, size] of UNITS) {
    const amount = Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) text += `${amount}${name}`;
  }
  return text === "" ? "0s" : text;
}
