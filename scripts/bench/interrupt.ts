/** The exit code for each signal that ends the benchmark: 128 plus the number of the signal, as in a shell. */
const EXIT_CODES = [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]] as const;

/**
 * Runs `work` until it is over, a signal arrives or the time limit has passed, and then `end`, which ends
 * what the work has started. Returns the exit code of the process; fails as `work` does.
 */
export async function runUntilInterrupted(
  work: () => Promise<void>,
  end: () => Promise<void>,
  timeoutMs: number,
): Promise<number> {
  const interrupted = Promise.withResolvers<void>();
  let exitCode: number | null = null;
  for (const [name, code] of EXIT_CODES) {
    Deno.addSignalListener(name, () => {
      // `deno task` passes a signal of the terminal on, so that it arrives twice.
      exitCode ??= code;
      interrupted.resolve();
    });
  }
  const timeLimit = setTimeout(() => {
    console.error("The benchmark did not finish within its time limit and was stopped.");
    exitCode ??= 1;
    interrupted.resolve();
  }, timeoutMs);
  const failure = await Promise.race([work(), interrupted.promise]).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  clearTimeout(timeLimit);
  await end();
  // A terminal interrupts the servers too, so that the work may fail before the signal is seen.
  if (exitCode === null && failure !== null) throw failure.error;
  return exitCode ?? 0;
}
