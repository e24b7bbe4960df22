/** A first-in, first-out queue; every operation takes constant time. */
export interface LinkedQueue<Value> {
  readonly size: number;
  /** The oldest value; undefined if the queue is empty. */
  readonly first: Value | undefined;
  /**
   * Appends a value. Returns a function that removes it, and returns false if it was removed
   * before.
   */
  push(value: Value): () => boolean;
  /** Removes and returns the oldest value; undefined if the queue is empty. */
  shift(): Value | undefined;
  /** Iterates over the values, the oldest first. The queue must not change meanwhile. */
  values(): Iterable<Value>;
}

interface Entry<Value> {
  readonly value: Value;
  previous: Entry<Value> | null;
  next: Entry<Value> | null;
  isQueued: boolean;
}

/**
 * Returns an empty queue. A doubly linked list, because an array shifts its elements on a removal
 * in the middle, and a `Map` steps over the holes of removed keys at its front.
 */
export function newLinkedQueue<Value>(): LinkedQueue<Value> {
  let first: Entry<Value> | null = null;
  let last: Entry<Value> | null = null;
  let size = 0;

  function remove(entry: Entry<Value>): boolean {
    if (!entry.isQueued) return false;
    const { previous, next } = entry;
    if (previous === null) first = next;
    else previous.next = next;
    if (next === null) last = previous;
    else next.previous = previous;
    entry.isQueued = false;
    // A removed entry that is still referenced must not retain its neighbours.
    entry.previous = entry.next = null;
    size--;
    return true;
  }

  return {
    get size() {
      return size;
    },
    get first() {
      return first?.value;
    },
    push(value) {
      const entry: Entry<Value> = { value, previous: last, next: null, isQueued: true };
      if (last === null) first = entry;
      else last.next = entry;
      last = entry;
      size++;
      return () => remove(entry);
    },
    shift() {
      const entry = first;
      if (entry === null) return undefined;
      remove(entry);
      return entry.value;
    },
    *values() {
      for (let entry = first; entry !== null; entry = entry.next) yield entry.value;
    },
  };
}
