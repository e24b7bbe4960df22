/** Length from which a parsed text is counted. */
const MIN_LONG_CHARS = 1_000;

/** Counts how often `JSON.parse` is called with a text so long, until it is disposed. */
export function longParses(minChars = MIN_LONG_CHARS): Disposable & { count(): number } {
  const { parse } = JSON;
  let count = 0;
  JSON.parse = (text: string, ...rest: []) => {
    if (text.length >= minChars) count++;
    return parse(text, ...rest);
  };
  return {
    count: () => count,
    [Symbol.dispose]: () => void (JSON.parse = parse),
  };
}
