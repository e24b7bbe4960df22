import { Cancellation } from "../../src/core/cancellation.ts";
import { assertEquals } from "./assert.ts";
import { scriptedWorld } from "./world.ts";

Deno.test("tasks run in the order in which they fall due, each at its own time", async () => {
  const world = scriptedWorld();
  const ran: string[] = [];
  const note = (name: string) => () => void ran.push(`${name} at ${world.now()}`);
  world.after(20, note("late"));
  world.after(10, note("early"));
  world.after(10, note("early too"));
  world.after(31, note("never"));
  await world.advance(30);
  assertEquals(ran, ["early at 10", "early too at 10", "late at 20"]);
  assertEquals(world.now(), 30);
  assertEquals(world.waiting, 1);
});

Deno.test("what a task sets off runs before the next task, its own waits too", async () => {
  const world = scriptedWorld();
  const ran: string[] = [];
  const wait = (ms: number) => new Promise<void>((resolve) => world.after(ms, resolve));
  async function work() {
    for (let round = 0; round < 3; round++) {
      await wait(10);
      for (let step = 0; step < 50; step++) await Promise.resolve();
      ran.push(`round at ${world.now()}`);
    }
  }
  const done = work();
  world.after(25, () => ran.push("task at 25"));
  await world.advance(100);
  await done;
  assertEquals(ran, ["round at 10", "round at 20", "task at 25", "round at 30"]);
});

Deno.test("a cancelled task does not run", async () => {
  const world = scriptedWorld();
  let runs = 0;
  const cancel = world.after(10, () => runs++);
  cancel();
  await world.advance(20);
  assertEquals(runs, 0);
});

Deno.test("ids, seconds and random numbers are the same in every run", async () => {
  const world = scriptedWorld({ random: [0.25, 0.75] });
  assertEquals([world.random(), world.random(), world.random()], [0.25, 0.75, 0]);
  assertEquals(world.uuid(), "00000000-0000-4000-8000-000000000001");
  assertEquals(world.uuid(), "00000000-0000-4000-8000-000000000002");
  assertEquals(world.unix(), 1_700_000_000);
  await world.advance(2_500);
  assertEquals(world.unix(), 1_700_000_002);
});

Deno.test("a scripted world reaches only the network that the test gives it", async () => {
  const answer = new Response("scripted");
  const world = scriptedWorld({ fetch: () => Promise.resolve(answer) });
  const request = {
    method: "GET",
    headers: {},
    body: null,
    cancellation: new Cancellation(),
  } as const;
  assertEquals(await world.send("http://x", request), answer);
  const sent = scriptedWorld().send("http://x", request);
  const outcome = await sent.then(() => "sent", () => "failed");
  assertEquals(outcome, "failed");
});
