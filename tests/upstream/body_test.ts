import { Cancellation } from "../../src/core/cancellation.ts";
import { newAttemptTimer } from "../../src/upstream/attempt_timer.ts";
import { openBody } from "../../src/upstream/body.ts";
import { assertEquals } from "../support/assert.ts";
import { scriptedWorld } from "../support/world.ts";

Deno.test("a body waits for its turn before each piece after the first 16 KiB", async () => {
  const timer = newAttemptTimer(scriptedWorld(), new Cancellation(), {
    timeoutMs: 1_000,
    mode: "total",
    idleMs: null,
  });
  const order: string[] = [];
  let left = 4;
  const body = openBody(
    {
      status: 200,
      headers: new Headers(),
      body: {
        read() {
          order.push("read");
          return Promise.resolve(left-- === 0 ? null : new Uint8Array(8 * 1024));
        },
        cancel: () => Promise.resolve(),
      },
    },
    timer,
    {
      turns: {
        next() {
          order.push("turn");
          return Promise.resolve().then(() => void order.push("go"));
        },
      },
    },
  );
  for (let piece = 0; piece < 5; piece++) await body.read();
  timer.close();
  assertEquals(
    order.join(" "),
    "read read turn go read turn go read turn go read",
  );
});
