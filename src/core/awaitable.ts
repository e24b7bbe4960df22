/** A value that is there, or a promise of it. Code that gets the value takes no turn of the event loop. */
export type Awaitable<T> = T | Promise<T>;

/** Returns the result of `next` for a value, immediately if the value is there. */
export function whenReady<T, Next>(
  value: Awaitable<T>,
  next: (value: T) => Awaitable<Next>,
): Awaitable<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}
