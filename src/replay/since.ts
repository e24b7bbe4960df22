/** Pattern of a time before the newest record. */
const BACK = /^(\d{1,6})([hd])$/;

/** Pattern of a day, or of a time without a zone. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?$/;

/**
 * Returns a function that is true for the times from this one on; null if the text is no time. A
 * time such as `2h` counts back from the newest record, so that a set gives the same report at any
 * time.
 */
export function parseSince(
  text: string,
  zone: string,
): ((at: string, newest: string) => boolean) | null {
  const [, amount, unit] = BACK.exec(text) ?? [];
  if (amount !== undefined) {
    const hours = Number(amount) * (unit === "d" ? 24 : 1);
    return (at, newest) => Date.parse(at) >= Date.parse(newest) - hours * 3_600_000;
  }
  if (!MOMENT.test(text)) return null;
  try {
    const { epochMilliseconds } = Temporal.PlainDateTime.from(text).toZonedDateTime(zone);
    return (at) => Date.parse(at) >= epochMilliseconds;
  } catch {
    return null;
  }
}
