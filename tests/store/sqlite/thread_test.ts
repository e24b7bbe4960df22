import { type StartThread, startThread, type Thread } from "../../../src/store/sqlite/thread.ts";
import type { WorkerReply, WorkerRequest } from "../../../src/store/sqlite/messages.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { outcomeOf, stored } from "../../support/object_store.ts";
import { damageOf } from "./inspect.ts";
import { withFile } from "./store.ts";

const OWNER = { provider: "p", account: "a", origin: null, creator: null };

/** A message that no thread understands. */
const BROKEN: WorkerRequest = JSON.parse('{"kind": "run", "calls": null}');

/** Starts real threads; the test can send messages to the last one. */
function newStarter() {
  const threads: Thread[] = [];
  const replies: WorkerReply["kind"][] = [];
  let onReplied = () => {};
  const start: StartThread = (events) => {
    const thread = startThread({
      ...events,
      onReply(reply) {
        events.onReply(reply);
        replies.push(reply.kind);
        onReplied();
      },
    });
    threads.push(thread);
    return thread;
  };

  /** Waits for the next reply of one of these kinds and returns its kind. */
  async function nextReply(...kinds: readonly WorkerReply["kind"][]): Promise<WorkerReply["kind"]> {
    for (;;) {
      const reply = replies.shift();
      if (reply !== undefined && kinds.includes(reply)) return reply;
      if (reply === undefined) await new Promise<void>((resolve) => onReplied = resolve);
    }
  }

  return { start, threads, nextReply };
}

Deno.test("a store whose thread has crashed is there again with its content a second later", async () => {
  await withFile(async ({ open, world, log, path }) => {
    const { start, threads, nextReply } = newStarter();
    const store = await open({ start });
    const { chat_completion } = store.objects.owners;
    const bound = await stored(chat_completion.bind("before", OWNER));
    threads[0]?.post(BROKEN);
    await nextReply("broken");
    assertEquals(await outcomeOf(chat_completion.findBinding("before")), "state_unavailable");
    assertEquals(await outcomeOf(store.ping()), "state_unavailable");
    assertMatch(log[0] ?? "", /thread has stopped or does not respond; it is opened again/);
    // The new thread is refused until the old one has let go of the file.
    for (
      let reply: string | null = null;
      reply !== "opened";
      reply = await nextReply("opened", "refused")
    ) {
      await world.advance(1_000);
    }
    assert(threads.length > 1);
    assertEquals(await stored(chat_completion.findBinding("before")), bound);
    await stored(chat_completion.bind("after", OWNER));
    assertMatch(log.at(-1) ?? "", /works again/);
    await store.close();
    assertEquals(damageOf(path), []);
  });
});
