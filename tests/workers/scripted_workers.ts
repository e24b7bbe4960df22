import type { ToParent, ToWorker } from "../../src/workers/messages.ts";
import type { WorkerProcess } from "../../src/workers/process.ts";

/** A worker process that the test plays. */
export interface ScriptedWorker extends WorkerProcess {
  /** The messages that it received, without each `ping`, which it answers. */
  readonly received: readonly ToWorker[];
  /** True if the parent has killed it. */
  isKilled(): boolean;
  say(message: ToParent): void;
  /** Ends the process. */
  end(how?: string): void;
  /** From now on it reads no more messages. */
  stopReading(): void;
  /** From now on it answers no `ping`. */
  hang(): void;
}

/** Returns a starter of processes, and the processes in the order of their starts. */
export function newScriptedWorkers() {
  const workers: ScriptedWorker[] = [];

  function spawn(): WorkerProcess {
    const received: ToWorker[] = [];
    const ended = Promise.withResolvers<string>();
    const { readable, writable } = new TransformStream<ToParent, ToParent>(
      {},
      { highWaterMark: 100 },
      { highWaterMark: 100 },
    );
    const writer = writable.getWriter();
    let isReading = true;
    let isHanging = false;
    let isKilled = false;
    let isOver = false;

    function end(how = "exit code 1"): void {
      if (isOver) return;
      isOver = true;
      void writer.close();
      ended.resolve(how);
    }

    workers.push({
      pid: 1000 + workers.length,
      channel: {
        send(message) {
          if (!isReading) return false;
          if (message.kind !== "ping") received.push(message);
          else if (!isHanging && !isOver) void writer.write({ kind: "alive" });
          return true;
        },
        received: () => readable.values(),
        close: () => Promise.resolve(),
      },
      ended: ended.promise,
      kill() {
        isKilled = true;
        end("signal SIGKILL");
      },
      received,
      isKilled: () => isKilled,
      say: (message) => void writer.write(message),
      end,
      stopReading: () => void (isReading = false),
      hang: () => void (isHanging = true),
    });
    return workers.at(-1) as ScriptedWorker;
  }

  return { spawn, workers };
}
