import { setImmediate } from "node:timers";
import type { Incoming, World } from "../../src/core/world.ts";

/** Responses of a scripted world; omitted ones have a plain default. */
export interface WorldScript {
  /** Values of `random`, one after the other; 0 when they are used up. */
  readonly random?: readonly number[];
  /** Plays the network; without it each fetch fails. */
  readonly fetch?: (...request: Parameters<Fetch>) => Promise<Incoming>;
  /**
   * True if nothing is sent over real sockets: a turn of the event loop then takes no time. Sockets
   * need some: without this a turn takes about 1 ms.
   */
  readonly isInProcess?: boolean;
}

/** Plays the network. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** An outside in which time passes only when the test says so. */
export interface ScriptedWorld extends World {
  /**
   * Lets this many milliseconds pass: runs the tasks that fall due, in order, each at its own time.
   * Promises that a task settles are followed to their end before the next one runs.
   */
  advance(ms: number): Promise<void>;
  /** Tasks that are still to run. */
  readonly waiting: number;
}

interface Task {
  readonly at: number;
  readonly run: () => void;
}

const STARTED_S = 1_700_000_000;

/** A world that begins at 0 ms and 1700000000 s, with ids that count up from 1. */
export function scriptedWorld(script: WorldScript = {}): ScriptedWorld {
  const { fetch = () => Promise.reject(new TypeError("this world has no network")) } = script;
  const turn = script.isInProcess === true ? immediateTurn : timedTurn;
  const tasks = new Set<Task>();
  const randoms = [...script.random ?? []];
  let now = 0;
  let ids = 0;

  function nextUntil(end: number): Task | undefined {
    let next: Task | undefined;
    for (const task of tasks) {
      if (task.at <= end && (next === undefined || task.at < next.at)) next = task;
    }
    return next;
  }

  return {
    now: () => now,
    unix: () => STARTED_S + Math.floor(now / 1000),
    wall: () => STARTED_S * 1000 + now,
    random: () => randoms.shift() ?? 0,
    uuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, "0")}`,
    after(ms, run) {
      const task = { at: now + Math.max(ms, 0), run };
      tasks.add(task);
      return () => void tasks.delete(task);
    },
    send: sendBy(fetch),
    async advance(ms) {
      const end = now + ms;
      await turn();
      for (let task = nextUntil(end); task !== undefined; task = nextUntil(end)) {
        tasks.delete(task);
        now = Math.max(now, task.at);
        task.run();
        await turn();
      }
      now = end;
    },
    get waiting() {
      return tasks.size;
    },
  };
}

/** Upstreams that are served by the scripted network. */
export function sendBy(fetch: NonNullable<WorldScript["fetch"]>): World["send"] {
  return (url, { method, headers, body: sent, cancellation }) => {
    const body = sent === null || typeof sent === "string" || sent instanceof Uint8Array
      ? sent
      : new Blob([...sent]);
    const signal = cancellation.signal();
    return fetch(url, { method, headers, body, redirect: "manual", signal });
  };
}

/** A turn of the event loop: every promise job that can run has run, however long the chain. */
function timedTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function immediateTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
