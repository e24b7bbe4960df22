import type { PrivacyValues, TokenizedValue, ValuedObject } from "./privacy_values.ts";

/** Values of the objects that providers store, as calls use them. */
export interface ObjectValues {
  /** Returns the values of these objects, as far as they are known. */
  find(objects: readonly ValuedObject[]): Promise<readonly TokenizedValue[]>;
  /** Adds values to those of an object. */
  add(object: ValuedObject, values: readonly TokenizedValue[]): Promise<void>;
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
      return found.flatMap((one) => one.ok ? one.value : []);
    },
    async add(object, values) {
      for (const place of places) await place.add(object, values);
    },
  };
}
