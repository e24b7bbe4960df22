/** Number of minutes that are stored. */
const MAX_MINUTES = 15;

/** What happened in each of the last 15 minutes. */
export interface MinuteRing<T> {
  /** Returns the content of a minute, new if the minute has none. */
  at(minute: number): T;
  /** Returns the contents of the 15 minutes up to this one. */
  until(minute: number): readonly T[];
}

/** Returns a ring of which each minute begins with new content. */
export function newMinuteRing<T>(create: () => T): MinuteRing<T> {
  const slots: { readonly minute: number; readonly content: T }[] = [];
  return {
    at(minute) {
      const slot = slots[minute % MAX_MINUTES];
      if (slot?.minute === minute) return slot.content;
      const content = create();
      slots[minute % MAX_MINUTES] = { minute, content };
      return content;
    },
    until: (last) =>
      slots.filter((slot) => slot !== undefined)
        .filter(({ minute }) => minute <= last && minute > last - MAX_MINUTES)
        .map(({ content }) => content),
  };
}
