import type { LoopTurns, TurnKind } from "../../src/traffic/loop_turns.ts";
import { inTime } from "./in_time.ts";

/** Turns of the event loop that a test gives. */
export interface HeldTurns {
  readonly turns: LoopTurns;
  /** The kinds of the work that has come so far, in order. */
  readonly kinds: readonly TurnKind[];
  /** The clients of that work. */
  readonly clients: ReadonlySet<string>;
  /** Returns how much work waits. */
  waiting(): number;
  /** Resolves when this much work waits. */
  waits(count: number): Promise<void>;
  /** Lets the work go on that has waited longest. */
  begin(): void;
  /** Lets work go on whenever it waits, until the promise resolves. Returns its value. */
  beginUntil<Value>(over: Promise<Value>): Promise<Value>;
}

/** Returns turns in which work of these kinds waits, and all other work does not. */
export function heldTurns(...heldKinds: readonly TurnKind[]): HeldTurns {
  const waiting: (() => void)[] = [];
  const kinds: TurnKind[] = [];
  const clients = new Set<string>();
  let onWait = () => {};
  let isFree = false;
  const held: HeldTurns = {
    turns: {
      next(next, cancellation, client = () => "") {
        kinds.push(next);
        clients.add(client());
        if (!heldKinds.includes(next)) return null;
        return new Promise<void>((go) => {
          waiting.push(go);
          cancellation?.onCancel(() => {
            const at = waiting.indexOf(go);
            if (at >= 0) waiting.splice(at, 1);
            go();
          });
          onWait();
          if (isFree) held.begin();
        });
      },
    },
    kinds,
    clients,
    waiting: () => waiting.length,
    async waits(count) {
      while (waiting.length < count) {
        const more = new Promise<void>((resolve) => onWait = resolve);
        await inTime(more, () => `${waiting.length} wait for a turn, not ${count}`);
      }
    },
    begin: () => waiting.shift()?.(),
    async beginUntil(over) {
      isFree = true;
      while (waiting.length > 0) held.begin();
      const value = await over;
      isFree = false;
      return value;
    },
  };
  return held;
}
