import { recordBounds } from "../../../src/store/records/bounds.ts";
import { noRecordStats } from "../../../src/store/records/record_store.ts";
import { DEFAULT_RETENTION } from "../../../src/store/retention.ts";
import { LINK_LIMITS, type LinkLimits } from "../../../src/store/sqlite/link.ts";
import type { OperationCall, WorkerReply } from "../../../src/store/sqlite/messages.ts";
import type { Totals } from "../../../src/store/sqlite/operation.ts";
import { openLink } from "../../../src/store/sqlite/open_link.ts";
import type { ThreadEvents } from "../../../src/store/sqlite/thread.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { outcomeOf } from "../../support/object_store.ts";
import { scriptedWorld } from "../../support/world.ts";

const PATH = "/data/state.db";
const TOTALS: Totals = { records: noRecordStats(), quotas: { entries: 1, bytes: 2 } };
const OPENED: WorkerReply = { kind: "opened", totals: TOTALS };

/** Returns the parameters of a lookup of parts with a name. */
function namedLookup(name: string) {
  return { type: "response", names: [name], most: 1 } as const;
}

/** A thread that replies only when the test says so. */
interface ScriptedThread {
  readonly events: ThreadEvents;
  /** Names of the calls of each transaction that was sent, in order. */
  readonly batches: (readonly OperationCall[])[];
  /** Replies to the calls of the oldest transaction without replies. */
  reply(): void;
  isTerminated: boolean;
  isClosing: boolean;
}

/** Opens a link whose threads are scripted. */
function newScript(given: Partial<LinkLimits> = {}) {
  const world = scriptedWorld();
  const threads: ScriptedThread[] = [];
  const log: string[] = [];
  const write = (message: string) => void log.push(message);
  const opening = {
    options: { path: PATH, synchronous: "full" as const, maxPages: null },
    bounds: recordBounds(DEFAULT_RETENTION),
  };
  const opened = openLink(opening, {
    world,
    log: { warn: write, error: write },
    limits: { ...LINK_LIMITS, ...given },
    start(events) {
      let replied = 0;
      const thread: ScriptedThread = {
        events,
        batches: [],
        isTerminated: false,
        isClosing: false,
        reply() {
          const calls = thread.batches[replied++] ?? [];
          const results = calls.map(({ id }) => ({
            id,
            ok: true as const,
            value: null,
            hasWritten: true,
          }));
          events.onReply({ kind: "results", results, totals: TOTALS });
        },
      };
      threads.push(thread);
      return {
        post(request) {
          if (request.kind === "run") thread.batches.push(request.calls);
          if (request.kind === "close") thread.isClosing = true;
        },
        terminate: () => void (thread.isTerminated = true),
      };
    },
  });
  const thread = (at: number): ScriptedThread => {
    const found = threads[at];
    assert(found !== undefined, `there is a thread ${at}`);
    return found;
  };

  async function open() {
    thread(0).events.onReply(OPENED);
    const result = await opened;
    assert(result.ok);
    return result.link;
  }

  return { world, threads, thread, log, opened, open };
}

/** Lets all promises that can run do so. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

Deno.test("the operations of one tick are one transaction, and those that come meanwhile the next one", async () => {
  const { open, thread } = newScript();
  const link = await open();
  const first = [link.run("ping", undefined), link.run("readInfo", undefined)];
  await turn();
  const second = [link.run("ping", undefined), link.run("namedParts", namedLookup("r"))];
  await turn();
  const names = () => thread(0).batches.map((calls) => calls.map(({ name }) => name));
  assertEquals(names(), [["ping", "readInfo"]]);
  thread(0).reply();
  assertEquals((await Promise.all(first)).map(({ ok }) => ok), [true, true]);
  assertEquals(names(), [["ping", "readInfo"], ["ping", "namedParts"]]);
  thread(0).reply();
  await Promise.all(second);
  assertEquals(link.totals(), TOTALS);
});

Deno.test("small operations wait for one large one at most, and large ones for no more than the small ones before", async () => {
  const { open, thread } = newScript();
  const link = await open();
  const large = () => link.run("namedParts", namedLookup("x".repeat(300_000)));
  const all: Promise<{ readonly ok: boolean }>[] = [
    link.run("ping", undefined),
    large(),
    large(),
    large(),
  ];
  await turn();
  all.push(link.run("readInfo", undefined), large(), link.run("ping", undefined));
  const names = () => thread(0).batches.map((calls) => calls.map(({ name }) => name));
  for (let batch = 0; batch < 6; batch++) thread(0).reply();
  assertEquals((await Promise.all(all)).every(({ ok }) => ok), true);
  const one = ["namedParts"];
  assertEquals(names(), [["ping"], one, ["readInfo", "ping"], one, one, one]);
});

Deno.test("operations above the bounds of the queue fail at once", async () => {
  const { open, thread } = newScript({ calls: 3, bytes: 1_000 });
  const link = await open();
  const sent = link.run("ping", undefined);
  await turn();
  const large = link.run("namedParts", namedLookup("x".repeat(900)));
  const refused = await outcomeOf(link.run("namedParts", namedLookup("x".repeat(200))));
  assertEquals(refused, "state_unavailable");
  const small = [link.run("ping", undefined), link.run("ping", undefined)];
  assertEquals(await outcomeOf(link.run("ping", undefined)), "state_unavailable");
  thread(0).reply();
  thread(0).reply();
  for (const outcome of [sent, large, ...small]) assert((await outcome).ok);
});

Deno.test("operations of a thread that does not reply fail after ten seconds, and later ones at once", async () => {
  const { open, thread, world, log } = newScript();
  const link = await open();
  const sent = outcomeOf(link.run("ping", undefined));
  await turn();
  await world.advance(9_999);
  const waiting = outcomeOf(link.run("ping", undefined));
  await world.advance(1);
  assertEquals([await sent, await waiting], ["state_unavailable", "state_unavailable"]);
  assertEquals(await outcomeOf(link.run("ping", undefined)), "state_unavailable");
  assertEquals(log.length, 1);
  assertMatch(log[0] ?? "", /"\/data\/state\.db".*does not respond; it is opened again\.$/);
  // A disk that was stuck continues with the same thread.
  thread(0).reply();
  assertEquals(log.length, 2);
  const next = link.run("ping", undefined);
  await turn();
  thread(0).reply();
  assert((await next).ok);
  assert(!thread(0).isTerminated);
  assertEquals(world.waiting, 0);
});

Deno.test("a thread that stays silent is replaced, and the new one opens the file again", async () => {
  const { open, thread, threads, world, log } = newScript();
  const link = await open();
  const sent = outcomeOf(link.run("ping", undefined));
  await turn();
  await world.advance(10_000);
  assertEquals(await sent, "state_unavailable");
  await world.advance(29_999);
  assertEquals(threads.length, 1);
  await world.advance(1);
  assert(thread(0).isTerminated);
  // As long as the old thread has the file, the new one is refused.
  for (let at = 1; at <= 3; at++) {
    await world.advance(1_000);
    assertEquals(threads.length, at + 1);
    assertEquals(await outcomeOf(link.run("ping", undefined)), "state_unavailable");
    thread(at).events.onReply({ kind: "refused", problem: "locked" });
    assert(thread(at).isTerminated);
  }
  await world.advance(1_000);
  thread(4).events.onReply(OPENED);
  const next = link.run("ping", undefined);
  await turn();
  // What the first thread still says counts for nothing.
  thread(0).reply();
  thread(4).reply();
  assert((await next).ok);
  assertEquals(log.length, 3);
  assertMatch(log[1] ?? "", /cannot be opened again, because it is in use/);
  assertMatch(log[2] ?? "", /works again\.$/);
});

Deno.test("operations of a thread that crashes fail at once, and another one is started", async () => {
  const { open, thread, world } = newScript();
  const link = await open();
  const sent = outcomeOf(link.run("ping", undefined));
  await turn();
  const waiting = outcomeOf(link.run("ping", undefined));
  thread(0).events.onCrash();
  assertEquals([await sent, await waiting], ["state_unavailable", "state_unavailable"]);
  await world.advance(1_000);
  thread(1).events.onReply(OPENED);
  const next = link.run("ping", undefined);
  await turn();
  thread(1).reply();
  assert((await next).ok);
});

Deno.test("parameters of an operation in the background are made when it is sent", async () => {
  const { open, thread } = newScript();
  const link = await open();
  void link.run("ping", undefined);
  let uses = 0;
  const parameters = () => ({ sums: [], calls: Array(uses).fill("x"), callsExpire: 0 });
  const stored = link.runInBackground("storeUses", parameters);
  const [batch] = thread(0).batches;
  assertEquals(batch, undefined);
  uses = 2;
  await turn();
  assertEquals(thread(0).batches[0]?.[1]?.parameters, { ...parameters(), calls: ["x", "x"] });
  thread(0).reply();
  assert((await stored).ok);
});

Deno.test("a sweep has no time limit, until an operation waits for it", async () => {
  const { open, thread, world } = newScript();
  const link = await open();
  const swept = link.runInBackground("removeExpired", () => undefined);
  await turn();
  assertEquals(world.waiting, 0);
  await world.advance(60_000);
  const waiting = outcomeOf(link.run("ping", undefined));
  await world.advance(10_000);
  assertEquals(await waiting, "state_unavailable");
  assertEquals((await swept).ok, false);
  thread(0).reply();
  assertEquals(world.waiting, 0);
});

Deno.test("an operation that fails is logged once, until a write succeeds", async () => {
  const { open, thread, log } = newScript();
  const link = await open();
  for (let at = 0; at < 2; at++) {
    const sent = outcomeOf(link.run("ping", undefined));
    await turn();
    const [call] = thread(0).batches.at(-1) ?? [];
    const results = [{ id: call?.id ?? 0, ok: false as const, problem: "full" as const }];
    thread(0).events.onReply({ kind: "results", results, totals: null });
    assertEquals(await sent, "state_unavailable");
  }
  assertEquals(log, [
    `The database "${PATH}" (state.sqlite.path) cannot be written, because the disk is full; ` +
    "free some space.",
  ]);
  assertEquals(link.totals(), TOTALS);
});

Deno.test("a close completes the operations that wait and then closes the file", async () => {
  const { open, thread, world } = newScript();
  const link = await open();
  const sent = link.run("ping", undefined);
  await turn();
  const waiting = link.run("ping", undefined);
  const closed = link.close();
  assertEquals(await outcomeOf(link.run("ping", undefined)), "state_unavailable");
  thread(0).reply();
  thread(0).reply();
  assert((await sent).ok && (await waiting).ok);
  assert(thread(0).isClosing && !thread(0).isTerminated);
  thread(0).events.onReply({ kind: "closed" });
  await closed;
  assert(thread(0).isTerminated);
  assertEquals(world.waiting, 0);
  await link.close();
  assertEquals(await outcomeOf(link.run("ping", undefined)), "state_unavailable");
});

Deno.test("a close does not wait for a thread that does not reply", async () => {
  for (const isBusy of [true, false]) {
    const { open, thread, world } = newScript();
    const link = await open();
    const sent = isBusy ? outcomeOf(link.run("ping", undefined)) : null;
    await turn();
    const closed = link.close();
    await world.advance(10_000);
    await closed;
    assertEquals(await sent, isBusy ? "state_unavailable" : null);
    assert(thread(0).isTerminated);
    assertEquals(world.waiting, 0);
  }
});

Deno.test("a start fails if the thread does not open the file in half a minute, or crashes", async () => {
  const silent = newScript();
  await silent.world.advance(30_000);
  const crashing = newScript();
  crashing.thread(0).events.onCrash();
  for (const { opened, thread, world } of [silent, crashing]) {
    const result = await opened;
    assert(!result.ok);
    assertMatch(result.problem, /"\/data\/state\.db" \(state\.sqlite\.path\) cannot be opened/);
    assert(thread(0).isTerminated);
    assertEquals(world.waiting, 0);
  }
});
