import type { PrivacyValues, ValuedObject, ValuesOfObject } from "./privacy_values.ts";

/** Values of the objects that providers store, as calls use them. */
export interface ObjectValues {
  /** Returns the values of each of these objects, as far as they are known. */
  find(objects: readonly ValuedObject[]): Promise<readonly ValuesOfObject[]>;
  /** Adds values to those of an object. */
  add(object: ValuedObject, added: ValuesOfObject): Promise<void>;
}

/** Values of a gateway that stores nothing. */
export const NO_VALUES: ObjectValues = {
  find: () => Promise.resolve([]),
  add: () => Promise.resolve(),
};

/**
 * Returns values that are in the memory of the process and in a store that encrypts, if there is
 * one: without it nothing is written. While the store is unavailable the process knows its own.
 */
export function newObjectValues(
  memory: PrivacyValues,
  stored: PrivacyValues | null,
): ObjectValues {
  const places = stored === null ? [memory] : [memory, stored];
  return {
    async find(objects) {
      if (objects.length === 0) return [];
      const found = await Promise.all(places.map((place) => place.find(objects)));
      const known = found.flatMap((one) => one.ok ? [one.value] : []);
      return objects.map((_object, at) => {
        const parts = known.flatMap((one) => one[at] ?? []);
        return {
          values: parts.flatMap(({ values }) => values),
          isJsonText: parts.some(({ isJsonText }) => isJsonText),
        };
      });
    },
    async add(object, added) {
      for (const place of places) await place.add(object, added);
    },
  };
}
