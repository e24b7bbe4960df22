import { Cancellation } from "../../src/core/cancellation.ts";
import {
  newLoopTurns,
  turnAmong,
  turnForText,
  type TurnKind,
  turnToParse,
} from "../../src/traffic/loop_turns.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { heldTurns } from "../support/held_turns.ts";

/** Turns of a gateway with these calls in flight, over a clock that moves only with the work. */
function scriptedTurns(calls = () => 1_000, refused = () => 0) {
  let now = 0;
  let later: (() => void)[] = [];
  const turns = newLoopTurns(
    {
      now: () => now,
      after: (_ms, task) => {
        later.push(task);
        return () => {};
      },
    },
    calls,
    refused,
  );
  /** Work of each turn so far, the last one is the present turn. */
  const done: string[][] = [[]];
  return {
    turns,
    done,
    work(name: string, ms: number) {
      done.at(-1)!.push(name);
      now += ms;
    },
    async endTurn() {
      for (let i = 0; i < 4_000; i++) await Promise.resolve();
      done.push([]);
      const tasks = later;
      later = [];
      for (const task of tasks) task();
    },
    isIdle: () => later.length === 0,
  };
}

/**
 * Work of `count` calls or bodies, each with this number of pieces that take `ms`; returns what
 * each turn has done.
 */
async function workOfTurns(kinds: Readonly<Record<string, TurnKind>>, pieces: number, ms: number) {
  const { turns, done, work, endTurn, isIdle } = scriptedTurns();
  const all = Object.entries(kinds).map(async ([name, kind]) => {
    for (let piece = 0; piece < pieces; piece++) {
      // A read whose bytes are there.
      await Promise.resolve();
      const turn = turns.next(kind);
      if (turn !== null) await turn;
      work(name, ms);
    }
  });
  while (!isIdle() || done.length === 1) await endTurn();
  await Promise.all(all);
  return done.filter((names) => names.length > 0);
}

function named(prefix: string, count: number, kind: TurnKind): Record<string, TurnKind> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, kind]));
}

Deno.test("further pieces of 200 large bodies take at most 4 ms, or two pieces, of one turn of the event loop", async () => {
  for (const [ms, most] of [[2, 3], [5, 3], [0.5, 9]] as const) {
    const turns = await workOfTurns(named("body", 200, "rest"), 5, ms);
    for (const pieces of turns) assert(pieces.length <= most, `${ms} ms: ${pieces.length}`);
    assertEquals(turns.flat().length, 1_000);
  }
});

Deno.test("the beginnings of 300 calls take at most 8 ms of one turn of the event loop", async () => {
  const turns = await workOfTurns(named("call", 300, "start"), 1, 2);
  for (const calls of turns) assert(calls.length <= 5, `${calls.length}`);
  assertEquals(turns.flat(), Object.keys(named("call", 300, "start")));
});

/**
 * Returns the most calls of one turn after the first, each of `ms`, while `arriving` calls get a
 * place in each turn, and `refusing` calls find none.
 */
async function mostOfTurn(ms: number, arriving: number, refusing = 0): Promise<number> {
  // The first turn has no time for half of them.
  const count = 30 / ms;
  let inFlight = 100;
  let refused = 0;
  const { turns, done, work, endTurn, isIdle } = scriptedTurns(() => inFlight, () => refused);
  for (let call = 0; call < count; call++) {
    const turn = turns.next("start");
    if (turn === null) work("call", ms);
    else void turn.then(() => work("call", ms));
  }
  for (let timer = 0; !isIdle(); timer++) {
    // Two timers make a turn.
    if (timer % 2 === 0) {
      inFlight += arriving;
      refused += refusing;
    }
    await endTurn();
  }
  assertEquals(done.flat().length, count);
  return Math.max(...done.slice(1).map((calls) => calls.length));
}

Deno.test("calls have 2 ms of a turn while 8 more arrive than end in each, and 8 ms otherwise", async () => {
  assertEquals([await mostOfTurn(1, 8), await mostOfTurn(1, 7), await mostOfTurn(1, 0)], [2, 8, 8]);
});

Deno.test("calls that find no place are among those that arrive", async () => {
  assertEquals([await mostOfTurn(1, 0, 8), await mostOfTurn(1, 4, 4)], [2, 2]);
  assertEquals(await mostOfTurn(1, 0, 7), 8);
});

Deno.test("no more than 16 calls begin in a turn in which many arrive, however short they are", async () => {
  assertEquals([await mostOfTurn(1 / 16, 8), await mostOfTurn(1 / 16, 7)], [16, 128]);
});

Deno.test("calls begin before large bodies go on, which have two pieces of every turn", async () => {
  const kinds = { ...named("body", 50, "rest"), ...named("call", 50, "start") };
  const turns = await workOfTurns(kinds, 4, 3);
  const isCall = (name: string) => name.startsWith("call");
  const last = turns.findLastIndex((names) => names.some(isCall));
  assert(last <= 100, `${last}`);
  for (const names of turns.slice(1, last)) {
    assertEquals(names.filter((name) => !isCall(name)).length, 2);
  }
});

Deno.test("the timer that ends a turn is set after its work, so that the event loop has to wait for it", async () => {
  const { turns, work, endTurn, done } = scriptedTurns();
  let waiting = 0;
  for (let body = 0; body < 9; body++) {
    const turn = turns.next("rest");
    if (turn === null) work("first", 5);
    else void turn.then(() => work(`body${waiting++}`, 5));
  }
  const counts: number[] = [];
  for (let timer = 0; timer < 6; timer++) {
    await endTurn();
    counts.push(done.flat().length);
  }
  assertEquals(counts, [1, 3, 3, 5, 5, 7]);
});

/**
 * Large pieces that take these times in milliseconds, all of which come at once; returns the time
 * at which each one begins. Timers are due at their time, and later only for a piece that runs, or
 * by the milliseconds of `late`; `arriving` calls have arrived before each timer.
 */
async function beginningsOf(
  pieces: readonly number[],
  kind: TurnKind = "large",
  { late = [], arriving = [] }: {
    readonly late?: readonly number[];
    readonly arriving?: readonly number[];
  } = {},
): Promise<readonly number[]> {
  let now = 0;
  let inFlight = 60;
  const timers: { readonly at: number; readonly task: () => void }[] = [];
  const turns = newLoopTurns({
    now: () => now,
    after: (ms, task) => {
      timers.push({ at: now + ms, task });
      return () => {};
    },
  }, () => inFlight);
  const begun: number[] = [];
  for (const ms of pieces) {
    const work = () => {
      begun.push(now);
      now += ms;
    };
    const turn = turns.next(kind);
    if (turn === null) work();
    else void turn.then(work);
  }
  for (let timer = 0; timers.length > 0; timer++) {
    const next = timers.reduce((one, other) => other.at < one.at ? other : one);
    timers.splice(timers.indexOf(next), 1);
    now = Math.max(now, next.at) + (late[timer] ?? 0);
    inFlight += arriving[timer] ?? 0;
    next.task();
    for (let i = 0; i < 10; i++) await Promise.resolve();
  }
  return begun;
}

Deno.test("large pieces follow each other after a pause of a quarter of the time that one took, of at most 25 ms", async () => {
  assertEquals(await beginningsOf([8, 8, 40, 200, 8]), [0, 10, 20, 70, 295]);
});

/**
 * Returns when the second of large pieces of 8 ms begins, if 8 wait behind the first or, with
 * `few`, 7.
 */
async function secondOf(
  seen: { readonly late?: number[]; readonly arriving?: number[] },
  few = false,
) {
  return (await beginningsOf(Array(few ? 8 : 9).fill(8), "large", seen))[1];
}

Deno.test("a pause that something else takes 8 ms of is repeated once", async () => {
  assertEquals(await secondOf({ late: [0, 7] }), 17);
  assertEquals(await secondOf({ late: [0, 8] }), 20);
  assertEquals(await secondOf({ late: [0, 8, 8] }), 28);
});

Deno.test("a pause in which 8 calls arrive is repeated once if 8 large pieces wait", async () => {
  assertEquals(await secondOf({ arriving: [0, 7] }), 10);
  assertEquals(await secondOf({ arriving: [0, 8] }), 12);
  assertEquals(await secondOf({ arriving: [0, 8] }, true), 10);
  assertEquals(await secondOf({ arriving: [0, 8, 8] }), 12);
});

Deno.test("the pause after a large piece is of 25 ms if 8 calls have arrived in its turn and 8 pieces wait", async () => {
  assertEquals(await secondOf({ arriving: [7] }), 10);
  assertEquals(await secondOf({ arriving: [8] }), 33);
  assertEquals(await secondOf({ arriving: [8] }, true), 10);
  assertEquals(await secondOf({ arriving: [-8, 9] }), 10);
});

Deno.test("large pieces do not wait within 4 ms of the first one", async () => {
  assertEquals(await beginningsOf([1, 1, 1, 5, 8, 8]), [0, 1, 2, 3, 10, 20]);
});

Deno.test("first steps of calls that wait share a turn for 4 ms, and further large pieces and reads of tiny chunks share none", async () => {
  const pieces = [8, 1, 1, 1, 5, 8, 8];
  assertEquals(await beginningsOf(pieces, "entering"), [0, 10, 11, 12, 13, 20, 30]);
  for (const kind of ["large", "tiny"] as const) {
    assertEquals(await beginningsOf(pieces, kind), [0, 10, 11.25, 12.5, 13.75, 20, 30]);
  }
});

Deno.test("a large piece that comes when one has begun is behind those that wait", async () => {
  const { turns, work, endTurn } = scriptedTurns();
  assertEquals(turns.next("large"), null);
  work("first", 5);
  const begun: string[] = [];
  for (const name of ["second", "third"]) void turns.next("large")?.then(() => begun.push(name));
  for (let timer = 0; timer < 2; timer++) await endTurn();
  await Promise.resolve();
  assertEquals(begun, ["second"]);
  assert(turns.next("large") !== null);
});

Deno.test("large pieces are in order of arrival, and take no turn from calls and bodies", async () => {
  const kinds = { ...named("text", 20, "large"), ...named("body", 20, "rest") };
  const turns = await workOfTurns(kinds, 2, 40);
  const whats = turns.flat();
  const texts = whats.filter((name) => name.startsWith("text"));
  assertEquals(texts, [0, 1].flatMap(() => Object.keys(named("text", 20, "large"))));
  for (const names of turns.slice(1, 10)) {
    assertEquals(names.filter((name) => name.startsWith("body")).length, 2, names.join());
  }
});

Deno.test("large pieces of calls that have begun go before the first ones of others", async () => {
  const kinds = { ...named("entering", 3, "entering"), ...named("begun", 3, "large") };
  const [first, ...others] = (await workOfTurns(kinds, 1, 40)).flat();
  assertEquals([first, ...others.map((name) => name.replace(/\W?\d+$/, ""))], [
    Object.keys(kinds)[0],
    ...["begun", "begun", "begun", "entering", "entering"],
  ]);
});

Deno.test("a client with one large piece waits for one of another client with very many", async () => {
  for (const kind of ["start", "rest", "large", "entering", "tiny"] as const) {
    const { turns, work, done, endTurn, isIdle } = scriptedTurns();
    const add = (client: string) => {
      const turn = turns.next(kind, null, () => client);
      if (turn === null) work(client, 40);
      else void turn.then(() => work(client, 40));
    };
    for (let piece = 0; piece < 50; piece++) add("many");
    // Work of calls that have begun, such as their responses, does not go before either.
    if (kind === "entering" || kind === "tiny") {
      void turns.next("large", null, () => "many")?.then(() => work("many", 40));
    }
    add("ada");
    while (!isIdle()) await endTurn();
    const order = done.flat();
    assert(order.indexOf("ada") <= 4, `${kind}: ${order.indexOf("ada")}`);
    assert(order.length >= 51);
  }
});

Deno.test("a call begins while large pieces of another client arrive without an end", async () => {
  const { turns, work, done, endTurn } = scriptedTurns();
  const again = () => {
    const turn = turns.next("large", null, () => "many");
    if (turn !== null) void turn.then(() => (work("many", 40), again()));
  };
  assertEquals(turns.next("large", null, () => "many"), null);
  work("many", 40);
  for (let piece = 0; piece < 10; piece++) again();
  void turns.next("entering", null, () => "ada")?.then(() => work("ada", 40));
  for (let timer = 0; timer < 20; timer++) await endTurn();
  assert(done.flat().includes("ada"));
});

Deno.test("work that is cancelled leaves its turn to the next", async () => {
  for (const kind of ["start", "rest", "large", "entering", "tiny"] as const) {
    const { turns, work, done, endTurn, isIdle } = scriptedTurns();
    for (let first = 0; first < 3 && turns.next(kind) === null; first++) work("first", 40);
    const gone = new Cancellation();
    const ended = Array.from({ length: 50 }, () => turns.next(kind, gone));
    void turns.next(kind)?.then(() => work("last", 40));
    gone.clientDisconnected();
    await Promise.all(ended);
    const before = done.length;
    while (!isIdle() && done.flat().at(-1) !== "last") await endTurn();
    assert(done.length - before <= 4, `${kind}: ${done.length - before}`);
  }
});

Deno.test("a step of the work on a text has a turn from 256 KiB on, and a shorter text takes none", async () => {
  const held = heldTurns("large");
  const chars = 256 * 1024;
  assertEquals([0, 1, chars - 1].map((length) => turnForText(held.turns, length)), [
    null,
    null,
    null,
  ]);
  assertEquals(held.kinds, []);
  const turn = turnForText(held.turns, chars);
  await held.waits(1);
  held.begin();
  await turn;
});

Deno.test("the first step of a call has a turn from 32 KiB on", async () => {
  const held = heldTurns("entering");
  const chars = 32 * 1024;
  assertEquals(turnForText(held.turns, chars - 1, "entering"), null);
  const turn = turnForText(held.turns, chars, "entering");
  await held.waits(1);
  held.begin();
  await turn;
  assertEquals(held.kinds, ["entering"]);
});

Deno.test("a response is parsed in a turn behind begun work of its client, from 256 KiB on", async () => {
  const { turns, work, done, endTurn, isIdle } = scriptedTurns();
  const chars = 256 * 1024;
  assertEquals([turnToParse(turns, chars - 1), turns.next("large")], [null, null]);
  work("first", 40);
  void turnToParse(turns, chars)?.then(() => work("parsed", 40));
  void turns.next("large")?.then(() => work("begun", 40));
  while (!isIdle()) await endTurn();
  assertEquals(done.flat(), ["first", "begun", "parsed"]);
});

Deno.test("bodies that wait for a turn go on in order of arrival", async () => {
  const turns = await workOfTurns(named("body", 20, "rest"), 6, 5);
  const rounds = Array.from({ length: 6 }, () => Object.keys(named("body", 20, "rest"))).flat();
  assertEquals(turns.flat(), rounds);
});

Deno.test("work that takes no time, and the beginning of one of up to 63 calls, does not wait", () => {
  const idle = scriptedTurns();
  for (let piece = 0; piece < 1_000; piece++) assertEquals(idle.turns.next("rest"), null);
  const few = scriptedTurns(() => 63);
  for (let piece = 0; piece < 1_000; piece++) {
    assertEquals(few.turns.next("start"), null);
    few.work("piece", 100);
  }
});

Deno.test("work on 500 items has turns as the pieces of a body, and work on fewer takes none", async () => {
  const held = heldTurns("rest");
  assertEquals([0, 1, 499].map((items) => turnAmong(held.turns, items)), [null, null, null]);
  assertEquals(held.kinds, []);
  const turn = turnAmong(held.turns, 500);
  await held.waits(1);
  held.begin();
  await turn;
  assertEquals(held.kinds, ["rest"]);
});
