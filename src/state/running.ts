import { Departure } from "../core/departure.ts";
import { refuse } from "../core/result.ts";

/** The calls that run, so that the gateway can end without breaking them off. */
export interface Running {
  /** A call begins; the result is what ends it before its time. */
  enter(id: string): Departure;
  /** A connection opens on which calls are made, and which is waited for as they are. */
  connect(id: string): Departure;
  /** The call or the connection is over: its last byte is out. */
  leave(id: string): void;
  /** Whether the gateway is about to end: who sends it work shall look elsewhere. */
  readonly isDraining: boolean;
  /** The gateway is about to end; calls are still taken. */
  drain(): void;
  /** Runs the task when the gateway is about to end, at once when it is; the result takes it back. */
  onDrain(task: () => void): () => void;
  /** How many calls run and connections are open. */
  readonly count: number;
  /** Resolves when no call runs and no connection is open. */
  idle(): Promise<void>;
  /** Ends all that runs or is still to come as drained; the result is how many calls ran. */
  cut(): number;
}

/** Knows of no call yet. */
export function runningCalls(): Running {
  const departures = new Map<string, Departure>();
  const connections = new Set<string>();
  const waiting: (() => void)[] = [];
  const tasks = new Set<() => void>();
  let isDraining = false;
  let isCut = false;

  function end(departure: Departure) {
    departure.cut(
      refuse("draining", "The gateway is shutting down; send the request again.").failure,
    );
  }

  function enter(id: string): Departure {
    const departure = new Departure();
    departures.set(id, departure);
    if (isCut) end(departure);
    return departure;
  }

  return {
    enter,
    connect(id) {
      connections.add(id);
      return enter(id);
    },
    leave(id) {
      departures.delete(id);
      connections.delete(id);
      if (departures.size > 0) return;
      for (const resolve of waiting.splice(0)) resolve();
    },
    get isDraining() {
      return isDraining;
    },
    drain() {
      isDraining = true;
      for (const task of tasks) task();
      tasks.clear();
    },
    onDrain(task) {
      if (isDraining) {
        task();
        return () => {};
      }
      tasks.add(task);
      return () => void tasks.delete(task);
    },
    get count() {
      return departures.size;
    },
    idle() {
      if (departures.size === 0) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    cut() {
      isCut = true;
      const calls = departures.size - connections.size;
      for (const departure of departures.values()) end(departure);
      return calls;
    },
  };
}
