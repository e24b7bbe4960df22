/**
 * Sets an entry as the latest one of a map, and removes the oldest one if there are more than
 * `max`. Returns the key of the removed entry.
 */
export function setLatest<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  value: Value,
  max: number,
): Key | undefined {
  // Mostly it is the only one, whose removal would leave a table behind.
  if (map.size === 1 && map.get(key) === value) return undefined;
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.size > max ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
  return oldest;
}
