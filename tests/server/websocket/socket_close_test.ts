import { newRealWorld } from "../../../src/cli/real_world.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { oneProvider } from "../../support/gateway.ts";
import { frame, handshake, TEXT_CODE } from "../../support/raw_frames.ts";
import { create } from "../../support/socket_client.ts";
import { socketGateway } from "../../support/socket_gateway.ts";
import { sendBy } from "../../support/world.ts";
import { saying, wordStreams } from "../../support/word_stream.ts";
import { connectRaw } from "../raw_connection.ts";

const CLOSE_CODE = 8, MESSAGE_COUNT = 20;

Deno.test("messages of a socket that closes begin in turns, each is a call, and none asks a provider once it is closed", async () => {
  const real = newRealWorld();
  using _closing = { [Symbol.dispose]: () => real.close() };
  const upstream = wordStreams(() => saying("late"));
  let nowMs = 0;
  let timers = 0;
  const world = {
    ...real,
    send: sendBy(upstream.fetch),
    // No turn has time for more than the work that begins in every turn.
    now: () => nowMs += 10,
    after(ms: number, task: () => void) {
      if (ms === 0) timers++;
      return real.after(ms, task);
    },
  };
  /** Messages that have begun before each of the timers by which turns end. */
  const begun = new Map<number, number>();
  await using served = socketGateway(oneProvider("http://up.test"), {
    world,
    began: () => void begun.set(timers, (begun.get(timers) ?? 0) + 1),
  });
  await using client = await connectRaw(served.url);
  await client.send(handshake(new URL(served.url).host));
  await client.receiveUntil("\r\n\r\n");
  const message = frame(TEXT_CODE, JSON.stringify(create()));
  await client.send(message.repeat(MESSAGE_COUNT) + frame(CLOSE_CODE, "\x03\xe8"));
  await served.reported(MESSAGE_COUNT + 1);
  const most = Math.max(...begun.values());
  assert(most <= 3, `${most} messages began at once`);
  for (const { failure } of served.reports.slice(1)) {
    assertEquals(failure?.kind, "client_cancelled");
  }
  assert(upstream.sent.length <= 2, `${upstream.sent.length} were sent`);
});
