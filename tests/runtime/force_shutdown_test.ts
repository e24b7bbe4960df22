import { newForceShutdown } from "../../src/runtime/force_shutdown.ts";
import { MAX_STEPS_PER_TURN } from "../../src/runtime/walk.ts";
import { assertEquals } from "../support/assert.ts";
import {
  scriptedSocket,
  type ScriptedSockets,
  scriptedSockets,
} from "../support/scripted_sockets.ts";

function address(port: number): Deno.NetAddr {
  return { transport: "tcp", hostname: "127.0.0.1", port };
}

/** The connection from this local port to one provider. */
function connection(port: number) {
  return { localAddr: address(port), remoteAddr: address(443) };
}

/** Ten thousand open connections to one provider; the local port is 20,000 and the number. */
function crowded(): ScriptedSockets {
  const sockets = scriptedSockets(10_000);
  for (let number = 0; number < 10_000; number++) {
    const local = `127.0.0.1 ${20_000 + number}`;
    sockets.open.set(number, scriptedSocket(local, "127.0.0.1 443"));
  }
  return sockets;
}

function shutDownIn({ open }: ScriptedSockets): readonly number[] {
  return [...open].flatMap(([number, { isShutDown }]) => isShutDown ? [number] : []);
}

/** Tasks that wait for a turn of the event loop. */
function newTurns() {
  const waiting: (() => void)[] = [];
  return {
    later(task: () => void) {
      waiting.push(task);
      return () => void waiting.splice(waiting.indexOf(task), 1);
    },
    /** Runs the next one; false when there is none. */
    next(): boolean {
      const task = waiting.shift();
      task?.();
      return task !== undefined;
    },
  };
}

Deno.test("one of 10,000 connections is shut down by a search in slices, and no other connection is", async () => {
  const sockets = crowded();
  const turns = newTurns();
  const cutOff = newForceShutdown(() => sockets, turns.later);
  cutOff(connection(29_000));
  await Promise.resolve();
  let most = 0;
  do {
    most = Math.max(most, sockets.looks);
    sockets.looks = 0;
  } while (turns.next());
  assertEquals(most, MAX_STEPS_PER_TURN);
  assertEquals(shutDownIn(sockets), [9_000]);
});

Deno.test("connections that are shut down in one turn share one search", async () => {
  const sockets = crowded();
  const turns = newTurns();
  const cutOff = newForceShutdown(() => sockets, turns.later);
  const numbers = Array.from({ length: 1_000 }, (_, index) => 10 * index + 9);
  for (const number of numbers) cutOff(connection(20_000 + number));
  await Promise.resolve();
  while (turns.next());
  assertEquals(shutDownIn(sockets), numbers);
  assertEquals(sockets.looks, 10_000);
});

Deno.test("a connection that is shut down during a search is found by the next search", async () => {
  const sockets = crowded();
  const turns = newTurns();
  let opened = 0;
  const cutOff = newForceShutdown(() => {
    opened++;
    return sockets;
  }, turns.later);
  cutOff(connection(29_000));
  await Promise.resolve();
  cutOff(connection(20_003));
  cutOff.close();
  assertEquals(shutDownIn(sockets), [3, 9_000]);
  assertEquals([opened, sockets.isClosed], [1, true]);
});

Deno.test("a forced shutdown does nothing where sockets are unavailable", async () => {
  let asked = 0;
  const cutOff = newForceShutdown(() => {
    asked++;
    return null;
  });
  for (const port of [1, 2]) {
    cutOff(connection(port));
    await Promise.resolve();
  }
  cutOff.close();
  assertEquals(asked, 2);
});

Deno.test("closing completes a search immediately and leaves no pending turn", async () => {
  const sockets = crowded();
  const turns = newTurns();
  const cutOff = newForceShutdown(() => sockets, turns.later);
  cutOff(connection(29_000));
  await Promise.resolve();
  assertEquals(shutDownIn(sockets), []);
  cutOff.close();
  assertEquals(shutDownIn(sockets), [9_000]);
  assertEquals(turns.next(), false);
});

Deno.test("a connection that is shut down after closing is shut down in the same turn", () => {
  const sockets = crowded();
  const turns = newTurns();
  const cutOff = newForceShutdown(() => sockets, turns.later);
  cutOff(connection(29_001));
  cutOff.close();
  cutOff(connection(29_002));
  assertEquals(shutDownIn(sockets), [9_001, 9_002]);
  assertEquals(turns.next(), false);
});
