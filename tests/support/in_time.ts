/** Time for what a test waits for, which comes within seconds also on a busy machine. */
const MAX_WAIT_MS = 120_000;

/**
 * Returns what a promise resolves to. Rejects with what `missing` says if it waits longer than a
 * test may, which would otherwise hang without a word.
 */
export async function inTime<Value>(
  promise: Promise<Value>,
  missing: () => string,
  maxMs = MAX_WAIT_MS,
): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(missing())), maxMs);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
