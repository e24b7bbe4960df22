/** Number of minutes over which the page adds up calls and attempts. */
export const MAX_MINUTES = 15;

/** What happened in each of the last units of time, such as the last 15 minutes. */
export interface TimeRing<T> {
  /** Returns the content of a unit, new if the unit has none. */
  at(unit: number): T;
  /** Returns the contents of the last units up to this one. */
  until(unit: number): readonly T[];
}

/** Returns a ring of `size` units, each of which begins with new content. Units are counted since 1970. */
export function newTimeRing<T>(size: number, create: () => T): TimeRing<T> {
  const slots: { readonly unit: number; readonly content: T }[] = [];
  return {
    at(unit) {
      const slot = slots[unit % size];
      if (slot?.unit === unit) return slot.content;
      const content = create();
      slots[unit % size] = { unit, content };
      return content;
    },
    until: (last) =>
      slots.filter((slot) => slot !== undefined)
        .filter(({ unit }) => unit <= last && unit > last - size)
        .map(({ content }) => content),
  };
}
