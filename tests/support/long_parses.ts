/** Length from which a parsed text is counted. */
const MIN_LONG_CHARS = 1_000;

/** Counts how often `JSON.parse` is called with a long text, until it is disposed. */
export function longParses(): Disposable & { count(): number } {
  const { parse } = JSON;
  let count = 0;
  JSON.parse = (text: string, ...rest: []) => {
    if (text.length >= MIN_LONG_CHARS) count++;
    return parse(text, ...rest);
  };
  return {
    count: () => count,
    [Symbol.dispose]: () => void (JSON.parse = parse),
  };
}
