/**
 * Holds uses back while the gateway is looked at, so that no memory of a call in flight is
 * measured.
 */
export interface Gate {
  /** Resolves when the use may begin. */
  enter(): Promise<void>;
  /** Called at the end of each use that has entered. */
  leave(): void;
  /** Waits until no use is running, runs the task, and lets uses begin again. */
  whileEmpty<Result>(task: () => Promise<Result>): Promise<Result>;
}

/** Returns a gate that is open. */
export function newGate(): Gate {
  let running = 0;
  let closed: PromiseWithResolvers<void> | null = null;
  let onEmpty = () => {};

  return {
    async enter() {
      while (closed !== null) await closed.promise;
      running++;
    },
    leave() {
      running--;
      if (running === 0) onEmpty();
    },
    async whileEmpty(task) {
      const gate = closed = Promise.withResolvers<void>();
      if (running > 0) await new Promise<void>((resolve) => onEmpty = resolve);
      try {
        return await task();
      } finally {
        closed = null;
        onEmpty = () => {};
        gate.resolve();
      }
    },
  };
}
