/**
 * The exit code for each signal that ends a script: 128 plus the number of the signal, as in a
 * shell.
 */
const EXIT_CODES = [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]] as const;

/**
 * Runs `work` until it is over, a signal arrives or the time limit has passed, and then `end`,
 * which ends what the work has started. Returns the exit code of the process; fails as `work` does.
 */
export async function runUntilInterrupted(
  work: () => Promise<void>,
  end: () => Promise<void>,
  timeoutMs: number | null = null,
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
  const timeLimit = timeoutMs === null ? undefined : setTimeout(() => {
    console.error("The run did not finish within its time limit and was stopped.");
    exitCode ??= 1;
    interrupted.resolve();
  }, timeoutMs);
  const failure = await Promise.race([work(), interrupted.promise]).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  clearTimeout(timeLimit);
  await end();
  // A terminal interrupts the servers too, so that the work may fail before the signal arrives.
  if (exitCode === null && failure !== null) throw failure.error;
  return exitCode ?? 0;
}

/** Ends a gateway without waiting for its requests in flight, and waits until it has ended. */
export async function endAtOnce(gateway: Deno.ChildProcess): Promise<void> {
  try {
    // The second signal ends the program without its requests in flight.
    gateway.kill("SIGINT");
    gateway.kill("SIGTERM");
  } catch (error) {
    // It has ended already.
    if (!(error instanceof TypeError)) throw error;
  }
  await gateway.status;
}
