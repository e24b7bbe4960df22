import { isObject, type JsonValue } from "../../src/core/json/json.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { command, executed, nextOf, startRemote } from "../support/remote.ts";

const MAX_BODY_BYTES = 16 * 1024 * 1024;
const LOST = "no connection for remote control";

/** A handler that answers only when the test says so. */
function heldHandler() {
  const answer: ((response: Response) => void)[] = [];
  const signals: AbortSignal[] = [];
  const waiting: { readonly count: number; resolve(): void }[] = [];
  return {
    answer,
    signals,
    handle(request: Request): Promise<Response> {
      signals.push(request.signal);
      for (const { count, resolve } of waiting) if (signals.length >= count) resolve();
      return new Promise((resolve) => {
        answer.push(resolve);
        // As the gateway's own handler answers somebody who has gone.
        request.signal.addEventListener("abort", () => resolve(new Response("", { status: 499 })));
      });
    },
    /** Resolves when `count` commands have arrived. */
    arrived(count: number): Promise<void> {
      return new Promise((resolve) => {
        if (signals.length >= count) resolve();
        else waiting.push({ count, resolve });
      });
    },
  };
}

/** A response without end, until it is cancelled. */
function endless() {
  const read = Promise.withResolvers<void>();
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull: () => read.resolve(),
    cancel: () => cancelled.resolve(),
  }, { highWaterMark: 0 });
  return { response: new Response(body), read: read.promise, cancelled: cancelled.promise };
}

/** Starts two commands: the first waits for its response, the second reads an endless one. */
async function twoRunning() {
  const held = heldHandler();
  const answer = endless();
  let count = 0;
  const remote = startRemote({
    handle: (request) => ++count === 1 ? held.handle(request) : Promise.resolve(answer.response),
  });
  const socket = await remote.socket();
  socket.send(command("first"));
  socket.send(command("second"));
  await answer.read;
  return {
    held,
    answer,
    remote,
    socket,
    [Symbol.asyncDispose]: () => remote[Symbol.asyncDispose](),
  };
}

function sized(bytes: number): Response {
  return new Response(new Uint8Array(bytes).fill(97), { headers: { "x-gateway-route": "main" } });
}

Deno.test("at most 8 commands run at once: a ninth gets 429, until a running command has ended", async () => {
  const held = heldHandler();
  await using remote = startRemote({ handle: held.handle });
  const socket = await remote.socket();
  for (let index = 1; index <= 9; index++) socket.send(command(`c-${index}`));
  const refused = await nextOf(socket, "sandbox.response");
  assertEquals([refused.command_id, refused.ok, refused.status_code], ["c-9", false, 429]);
  assertEquals([refused.body, refused.headers], [null, {}]);
  held.answer[0]?.(new Response("{}"));
  assertEquals((await nextOf(socket, "sandbox.response")).command_id, "c-1");
  socket.send(command("c-10"));
  await held.arrived(9);
  assertEquals(held.signals.some(({ aborted }) => aborted), false);
});

Deno.test("a response of 16 MiB is returned, one byte more is refused", async () => {
  const sizes = [MAX_BODY_BYTES, MAX_BODY_BYTES + 1];
  await using remote = startRemote({ handle: () => Promise.resolve(sized(sizes.shift() ?? 0)) });
  const socket = await remote.socket();
  const whole = await executed(socket);
  assertEquals([whole.ok, String(whole.body).length], [true, MAX_BODY_BYTES]);
  const { error, ...rest } = await executed(socket);
  assertStringIncludes(String(error), "16 MiB");
  assertEquals<JsonValue>(rest, {
    type: "sandbox.response",
    command_id: "c-1",
    ok: false,
    status_code: 502,
    headers: { "x-gateway-route": "main" },
    body: null,
  });
});

Deno.test("the rest of a response that is too large is not read", async () => {
  const cancelled = Promise.withResolvers<void>();
  const piece = new Uint8Array(1024 * 1024);
  let pieces = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pieces++;
      controller.enqueue(piece);
    },
    cancel: () => cancelled.resolve(),
  }, { highWaterMark: 0 });
  await using remote = startRemote({ handle: () => Promise.resolve(new Response(body)) });
  assertEquals((await executed(await remote.socket())).ok, false);
  await cancelled.promise;
  assertEquals(pieces, 17);
});

Deno.test("a response that breaks off is an error", async () => {
  const body = new ReadableStream<Uint8Array>({
    pull: () => Promise.reject(new Error("marked-bug")),
  });
  await using remote = startRemote({ handle: () => Promise.resolve(new Response(body)) });
  const { ok, status_code, body: got, error } = await executed(await remote.socket());
  assertEquals([ok, status_code, got, error], [false, 502, null, "The response is incomplete."]);
});

Deno.test("a command is cancelled after 5 minutes, before or during its response", async () => {
  await using running = await twoRunning();
  const { held, answer, remote, socket } = running;
  // The connection stays: a minute of silence would end it.
  for (let minute = 0; minute < 5; minute++) {
    socket.send({ type: "unknown", command_id: "mark" });
    await responseTo("mark");
    await remote.world.advance(60_000 - 1);
  }
  assertEquals(held.signals[0]?.aborted, false);
  await remote.world.advance(5);
  const late = await Promise.all([responseTo("first"), answer.cancelled]);
  assertEquals([late[0].ok, late[0].status_code], [false, 504]);
  assertEquals(held.signals[0]?.aborted, true);

  async function responseTo(id: string) {
    for (;;) {
      const message = await socket.receive();
      assert(isObject(message), "the connection is over");
      if (message.command_id === id) return message;
    }
  }
});

Deno.test("closing the channel cancels running commands, before or during their responses", async () => {
  await using running = await twoRunning();
  const { held, answer, remote, socket } = running;
  await remote.close();
  await answer.cancelled;
  assertEquals(held.signals[0]?.aborted, true);
  assertEquals(remote.world.waiting, 0);
  assertEquals(await socket.receive(), null);
});

Deno.test("a lost connection cancels its commands, and the next connection gets no response to them", async () => {
  const slow = Promise.withResolvers<Response>();
  const signals: AbortSignal[] = [];
  const arrived = Promise.withResolvers<void>();
  await using remote = startRemote({
    handle(request) {
      signals.push(request.signal);
      arrived.resolve();
      return signals.length === 1 ? slow.promise : Promise.resolve(new Response("{}"));
    },
  });
  const first = await remote.socket();
  first.send(command("lost"));
  await arrived.promise;
  await first.close();
  await remote.logged(LOST);
  assertEquals(signals[0]?.aborted, true);
  await remote.world.advance(1_000);
  const second = await remote.socket();
  assertEquals((await executed(second, { command_id: "lost" })).body, "{}");
  const late = endless();
  slow.resolve(late.response);
  await late.cancelled;
  assertEquals((await executed(second, { command_id: "next" })).body, "{}");
});

Deno.test("a command with the ID of a running command is not run", async () => {
  const held = heldHandler();
  await using remote = startRemote({ handle: held.handle });
  const socket = await remote.socket();
  socket.send(command("same"));
  socket.send(command("same"));
  await remote.logged("A command with this command_id is already running.");
  assertEquals(held.signals.length, 1);
});

Deno.test("a handler that throws fails its command and nothing else", async () => {
  await using remote = startRemote({ handle: () => Promise.reject(new Error("marked-bug")) });
  const socket = await remote.socket();
  for (let round = 0; round < 2; round++) {
    const { ok, status_code } = await executed(socket);
    assertEquals([ok, status_code], [false, 500]);
  }
  assert(!remote.log.join("").includes("marked-bug"));
});
