import { assert, assertEquals, assertThrows } from "../support/assert.ts";
import { newEvents } from "../../src/admin/events.ts";
import type { Snapshot } from "../../src/admin/snapshot.ts";
import { testAdmin } from "../support/admin.ts";
import { answers, chatRequest, COMPLETION } from "../support/chat_call.ts";
import { oneProvider } from "../support/gateway.ts";
import { scriptedWorld } from "../support/world.ts";

function listener() {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const admin = testAdmin(oneProvider("http://up"), world);

  /** An open stream of snapshots; `next` waits for one event. */
  async function open() {
    const response = await admin.get("/events");
    const { body } = response;
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    return {
      response,
      body,
      async next(): Promise<Snapshot | null> {
        const read = await reader?.read();
        if (read === undefined || read.done) return null;
        assert(read.value.startsWith("data: ") && read.value.endsWith("\n\n"));
        return JSON.parse(read.value.slice("data: ".length));
      },
      cancel: () => reader?.cancel(),
    };
  }

  const call = async () => void await (await admin.app(chatRequest())).text();
  return { ...admin, world, open, call };
}

Deno.test("a listener gets a snapshot at once and then one a second, each with what is new", async () => {
  const { world, open, call, feed, admin } = listener();
  await call();
  const stream = await open();
  assertEquals(stream.response.headers.get("content-type"), "text/event-stream");
  const first = await stream.next();
  assertEquals([first?.finished.length, first?.seconds.length], [1, 0]);
  await call();
  await world.advance(1_000);
  const second = await stream.next();
  assertEquals(second?.finished.map(({ number }) => number), [2]);
  assertEquals(second?.seconds.map(({ calls }) => calls), [2]);
  await world.advance(1_000);
  const third = await stream.next();
  assertEquals([third?.finished, third?.seconds], [[], []]);
  assertEquals((third?.atMs ?? 0) - (second?.atMs ?? 0), 1_000);
  await stream.cancel();
  admin.close();
  feed.close();
  await world.advance(1_000);
  assertEquals(world.waiting, 0, "nothing is made without a listener");
});

Deno.test("at most 16 listeners get snapshots; one more is refused until one leaves", async () => {
  const { open, get, admin, feed } = listener();
  const streams = await Promise.all(Array.from({ length: 16 }, open));
  const refused = await get("/events");
  assertEquals([refused.status, refused.headers.get("retry-after")], [503, "1"]);
  await refused.body?.cancel();
  await streams[0]?.cancel();
  assertEquals((await open()).response.status, 200);
  admin.close();
  feed.close();
});

Deno.test("nothing is stored for a listener that does not read; it gets what it missed later", async () => {
  const { world, get, call, admin, feed } = listener();
  const response = await get("/events");
  const reader = response.body?.getReader();
  for (let count = 0; count < 20; count++) {
    await call();
    await world.advance(1_000);
  }
  admin.close();
  feed.close();
  let events = 0;
  const seen: number[] = [];
  for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
    events++;
    const { finished }: Snapshot = JSON.parse(new TextDecoder().decode(read.value).slice(6));
    seen.push(...finished.map(({ number }) => number));
  }
  assertEquals([events, seen], [2, [1]], "two snapshots fit, and the others were never made");
});

Deno.test("a listener that takes nothing for half a minute loses its place, and one that reads does not", async () => {
  const { world, open, get, admin, feed } = listener();
  const reading = await open();
  const silent = await Promise.all(Array.from({ length: 15 }, () => get("/events")));
  // Two snapshots fit, so the third one is the first that waits.
  for (let count = 0; count < 31; count++) {
    await reading.next();
    await world.advance(1_000);
  }
  const refused = await get("/events");
  assertEquals(refused.status, 503, "the places are still held");
  await refused.body?.cancel();
  await reading.next();
  await world.advance(1_000);
  const opened = await Promise.all(Array.from({ length: 15 }, open));
  assertEquals(opened.map(({ response }) => response.status), Array.from(silent, () => 200));
  assertEquals((await reading.next())?.finished, [], "the stream that reads continues");
  const ended = await new Response(silent[0]?.body).text().catch(String);
  assertEquals(ended, "Error: The listener takes no snapshots.");
  await Promise.all([reading, ...opened].map((stream) => stream.cancel()));
  assertEquals((await open()).response.status, 200);
  admin.close();
  feed.close();
});

Deno.test("the connection of a listener that loses its place is ended, and that of one that reads is not", async () => {
  const { world, admin, feed } = listener();
  const aborted: string[] = [];
  const open = (name: string) =>
    admin.handle(
      new Request("http://localhost:8081/events", { headers: { host: "localhost:8081" } }),
      { abort: () => void aborted.push(name) },
    );
  const reading = (await open("reading")).body?.getReader();
  await open("silent");
  for (let count = 0; count < 40; count++) {
    await reading?.read();
    await world.advance(1_000);
  }
  assertEquals(aborted, ["silent"]);
  await reading?.cancel();
  admin.close();
  feed.close();
});

Deno.test("a listener that reads again gets the seconds and calls that it missed", async () => {
  const { world, open, call, admin, feed } = listener();
  const stream = await open();
  for (let count = 0; count < 5; count++) {
    await call();
    await world.advance(1_000);
  }
  const seen: number[] = [];
  for (let count = 0; count < 6; count++) {
    const snapshot = await stream.next();
    seen.push(...snapshot?.finished.map(({ number }) => number).toReversed() ?? []);
    await world.advance(1_000);
  }
  assertEquals(seen, [1, 2, 3, 4, 5]);
  admin.close();
  for (let left = await stream.next(); left !== null;) left = await stream.next();
  feed.close();
});

Deno.test("a refused reload is in a snapshot at once, and gone after a good one", async () => {
  const { world, open, notes, admin, feed } = listener();
  const stream = await open();
  assertEquals((await stream.next())?.refusedReload, null);
  notes.refused(["routing.routes: is required (line 1, column 1)"]);
  assertEquals((await stream.next())?.refusedReload, {
    atMs: world.wall(),
    lines: ["routing.routes: is required (line 1, column 1)"],
  });
  notes.accepted(["admin.port: is odd"]);
  const good = await stream.next();
  assertEquals([good?.refusedReload, good?.warnings], [null, ["admin.port: is odd"]]);
  admin.close();
  feed.close();
});

Deno.test("the lines of a long broken file are bounded", async () => {
  const { snapshot, notes, feed } = listener();
  notes.refused(Array.from({ length: 1_000 }, (_, line) => `line ${line}`));
  const { refusedReload } = await snapshot();
  assertEquals([refusedReload?.lines.length, refusedReload?.lines.at(-1)], [201, "and 800 more"]);
  feed.close();
});

Deno.test("a snapshot that cannot be made is reported as a bug, and the stream continues a second later", async () => {
  const world = scriptedWorld({ fetch: () => answers(200, COMPLETION) });
  const bugs: unknown[] = [];
  let refreshes = 0;
  const { feed, admin, get } = testAdmin(oneProvider("http://up"), world);
  const snapshot: Snapshot = await (await get("/snapshot")).json();
  const refresh = () => ++refreshes === 1 ? Promise.reject(new Error("broken")) : Promise.resolve();
  const events = newEvents(world, () => snapshot, refresh, (error) => void bugs.push(error));
  const reader = events.open()?.getReader();
  await reader?.read();
  await world.advance(1_000);
  assertEquals(bugs.length, 1);
  await world.advance(1_000);
  assertEquals((await reader?.read())?.done, false);
  assertEquals([bugs.length, events.count], [1, 1]);
  events.close();
  admin.close();
  feed.close();
});

Deno.test("a stream whose first snapshot cannot be made takes no place", () => {
  const world = scriptedWorld({});
  const take = () => {
    throw new Error("broken");
  };
  const events = newEvents(world, take, () => Promise.resolve(), () => {});
  for (let count = 0; count < 20; count++) assertThrows(() => events.open());
  assertEquals(events.count, 0);
  events.close();
});
