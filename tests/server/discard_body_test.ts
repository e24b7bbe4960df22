import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { discardBody } from "../../src/server/discard_body.ts";
import { newCall } from "../../src/server/new_call.ts";
import { endpointAt } from "../observe/reports.ts";
import { configOf } from "../config/parse.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { twoKeys } from "../support/client_keys.ts";
import { oneProvider, testGateway } from "../support/gateway.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { bodyInPieces } from "./body_in_pieces.ts";
import { connectRaw } from "./raw_connection.ts";

const PATH = "/v1/chat/completions", MIB = 1024 * 1024;

/** Begins to discard a body of which `pull` gives the pieces. */
function discarding(
  length: number | null,
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>,
  headers: Readonly<Record<string, string>> = {},
  world = scriptedWorld(),
  hostname = "192.0.2.1",
  key: string | null = null,
) {
  const gateway = newGateway(compile(configOf(oneProvider("http://up.test")), 1), world, []);
  let pieces = 0, isOver = false, isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pieces++;
      return pull(controller);
    },
    cancel: () => void (isCancelled = true),
  }, { highWaterMark: 0 });
  const request = new Request(`http://localhost${PATH}`, { method: "POST", headers, body });
  const remoteAddr = { transport: "tcp", hostname, port: 1 } as const;
  const call = newCall(gateway, request, PATH, endpointAt(PATH), { remoteAddr });
  const clientOf = () => key ?? call.clientOf();
  const over = discardBody({ ...call, clientOf }, request, length).then(() => isOver = true);
  return {
    world,
    over,
    state: () => ({ pieces, isOver, isCancelled }),
  };
}

const never = () => new Promise<void>(() => {});

Deno.test("the pieces of a discarded body are read into a buffer of 16 KiB, not into one of 64 KiB for each", async () => {
  const world = scriptedWorld();
  const gateway = newGateway(compile(configOf(oneProvider("http://up.test")), 1), world, []);
  const { body, buffers } = bodyInPieces([1, 1, 1]);
  const request = new Request(`http://localhost${PATH}`, { method: "POST", body });
  const call = newCall(gateway, request, PATH, endpointAt(PATH));
  const over = discardBody(call, request, null);
  await world.advance(0);
  await over;
  assertEquals([call.bodyBytes, buffers], [3, Array(4).fill(16 * 1024)]);
});

Deno.test("a client that writes the whole of a large body first reads the response that refuses it", async () => {
  await using served = socketGateway(oneProvider("http://127.0.0.1:1/v1") + twoKeys());
  const { host } = new URL(served.url);
  const body = "x".repeat(10 * MIB);
  const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  for (
    const [path, framing, sent] of [
      [PATH, `content-length: ${body.length}`, body],
      [PATH, "transfer-encoding: chunked", chunks],
      ["/v1/unknown", `authorization: Bearer key-of-ada\r\ncontent-length: ${body.length}`, body],
      [
        PATH,
        `authorization: Bearer key-of-ada\r\ncontent-length: ${11 * MIB}`,
        body + body.slice(9 * MIB),
      ],
    ] as const
  ) {
    await using client = await connectRaw(served.url);
    const isSent = await client.send(
      `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n${framing}\r\n\r\n${sent}`,
    );
    const head = await client.receiveUntil("\r\n\r\n");
    assertEquals(isSent, true, framing);
    assertMatch(head, /^HTTP\/1\.1 4(01|04|13) /);
    assertMatch(await client.receiveUntil("more than the response"), /"error"/);
  }
});

const ADA = "authorization: Bearer key-of-ada\r\n";

for (
  const [refused, status, path, type] of [
    ["in chunks above the limit", 413, PATH, "application/json"],
    ["without a boundary", 400, "/v1/files", "multipart/form-data"],
    ["that is no form", 400, "/v1/files", "application/json"],
    ["with a wrong part", 400, "/v1/files", "multipart/form-data; boundary=b"],
    ["above max_upload", 413, "/v1/files", "multipart/form-data; boundary=b"],
    ["above the body memory", 503, PATH, "application/json"],
  ] as const
) {
  Deno.test(`a client that writes the whole of a body ${refused} first reads the response that refuses it`, async () => {
    const limits = status === 503 ? "max_body_memory: 1048576" : "max_upload: 5242880";
    await using served = socketGateway(
      `${oneProvider("http://127.0.0.1:1/v1")}${twoKeys()}server: {${limits}}\n`,
    );
    const { host } = new URL(served.url);
    const part = '--b\r\ncontent-disposition: form-data; name="file"\r\n\r\n';
    const size = status === 413 ? 15 * MIB : 8 * MIB;
    const body = (status === 413 ? part : `--b\r\n\r\n\r\n${part}`) + "x".repeat(size);
    await using client = await connectRaw(served.url);
    const isSent = await client.send(
      `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n${ADA}content-type: ${type}\r\n` +
        `transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    );
    assertEquals(isSent, true);
    assertMatch(await client.receiveUntil("\r\n\r\n"), new RegExp(`^HTTP/1\\.1 ${status} `));
    assertMatch(await client.receiveUntil("more than the response"), /"error"/);
  });
}

Deno.test("a body that is refused while it is read is not held while its rest is discarded", async () => {
  const world = scriptedWorld();
  const { app, gateway } = testGateway(oneProvider("http://up.test"), world);
  let pieces = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pieces++;
      return pieces <= 11 ? controller.enqueue(new Uint8Array(MIB)) : never();
    },
  }, { highWaterMark: 0 });
  const headers = { "transfer-encoding": "chunked" };
  let isOver = false;
  const answering = app(new Request(`http://localhost${PATH}`, { method: "POST", headers, body }))
    .finally(() => isOver = true);
  while (pieces < 12 && !isOver) await world.advance(0);
  assertEquals([isOver, gateway.state.admission.bodyBytes()], [false, 0]);
  await world.advance(500);
  assertEquals((await answering).status, 413);
});

Deno.test("a response does not wait for a body that comes slowly, for long, or for more than 12 MiB", async () => {
  const silent = discarding(MIB, never);
  await silent.world.advance(499);
  assertEquals(silent.state(), { pieces: 1, isOver: false, isCancelled: false });
  await silent.world.advance(1);
  assertEquals(silent.state(), { pieces: 1, isOver: true, isCancelled: true });

  // The least progress is 8 KiB in 500 ms.
  for (const [bytes, endMs] of [[8 * 1024 - 1, 500], [8 * 1024, 5_000]] as const) {
    const slow = discarding(null, (controller) =>
      new Promise((pulled) => {
        slow.world.after(490, () => {
          controller.enqueue(new Uint8Array(bytes));
          pulled();
        });
      }));
    await slow.world.advance(endMs - 1);
    assertEquals(slow.state().isOver, false);
    await slow.world.advance(1);
    assertEquals([slow.state().isOver, slow.state().isCancelled], [true, true]);
  }

  const endless = discarding(null, (controller) => controller.enqueue(new Uint8Array(MIB)));
  await endless.world.advance(100);
  assertEquals(endless.state(), { pieces: 13, isOver: true, isCancelled: true });
});

/** A world in which each turn of the event loop begins when the test says so. */
function turningWorld() {
  const turns: (() => void)[] = [];
  const scripted = scriptedWorld();
  const world = {
    ...scripted,
    after(ms: number, task: () => void) {
      if (ms > 0) return scripted.after(ms, task);
      turns.push(task);
      return () => {};
    },
  };
  return { world, turns };
}

for (const [size, pieces] of [[64 * 1024, 4], [1, 16]] as const) {
  Deno.test(`${pieces} pieces of ${size} bytes of one of all bodies that are discarded are read in a turn of the event loop`, async () => {
    const { world, turns } = turningWorld();
    let reads = 0;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      reads++;
      controller.enqueue(new Uint8Array(size));
    };
    const three = Array.from({ length: 3 }, () => discarding(null, pull, {}, world));
    await world.advance(0);
    assertEquals(reads, 0, "before the first turn");
    for (let turn = 1; turn <= 6; turn++) {
      assertEquals(turns.length, 1);
      turns.shift()?.();
      await world.advance(0);
      assertEquals(reads, turn * pieces);
    }
    // The bodies that end leave the queue.
    await world.advance(5_000);
    await Promise.all(three.map(({ over }) => over));
    turns.shift()?.();
    assertEquals([reads, turns.length], [6 * pieces, 0]);
  });
}

Deno.test("a body that is short, longer than 12 MiB or waits for permission is not read", async () => {
  for (
    const [length, headers] of [[256 * 1024, {}], [12 * MIB + 1, {}], [MIB, {
      expect: "100-continue",
    }]] as const
  ) {
    const left = discarding(length, never, headers);
    await left.over;
    assertEquals(left.state(), { pieces: 0, isOver: true, isCancelled: false });
  }
});

Deno.test("of bodies that come faster than their turns most are ended before anything is read", async () => {
  const { world, turns } = turningWorld();
  const all = Array.from({ length: 1_000 }, () => discarding(null, never, {}, world));
  await world.advance(0);
  assertEquals(all.filter((one) => one.state().isOver).length, 1_000 - 64);
  turns.shift()?.();
  await world.advance(0);
  assertEquals(all.reduce((sum, one) => sum + one.state().pieces, 0), 1);
  await world.advance(500);
  turns.shift()?.();
  await Promise.all(all.map(({ over }) => over));
});

Deno.test("the 65th body that is discarded ends the one of which least has come", async () => {
  const written = discarding(
    MIB,
    (controller) =>
      written.state().pieces === 1 ? controller.enqueue(new Uint8Array(9_000)) : never(),
  );
  const others = Array.from({ length: 63 }, () => discarding(MIB, never));
  await written.world.advance(0);
  const [first, second] = others;
  for (const next of [first, second]) {
    const further = discarding(MIB, never);
    others.push(further);
    await next?.over;
    assertEquals([next?.state().isCancelled, written.state().isOver], [true, false]);
  }
  for (const { world, over } of [written, ...others]) {
    await world.advance(1_000);
    await over;
  }
});

Deno.test("the 65th body that is discarded ends one of the client that has most of them", async () => {
  const world = scriptedWorld();
  const begin = (hostname: string, bytes: number) => {
    const one = discarding(
      null,
      (controller) =>
        one.state().pieces === 1 ? controller.enqueue(new Uint8Array(bytes)) : never(),
      {},
      world,
      hostname,
    );
    return one;
  };
  const strangers = Array.from({ length: 63 }, (_, at) => begin("192.0.2.1", 9_000 - at));
  const honest = [begin("192.0.2.2", 1)];
  await world.advance(0);
  for (const hostname of ["192.0.2.2", "192.0.2.1", "192.0.2.3"]) {
    const [least] = strangers.splice(-1);
    const next = begin(hostname, 9_500);
    (hostname === "192.0.2.1" ? strangers : honest).unshift(next);
    await world.advance(0);
    assertEquals(least?.state().isOver, true, hostname);
    assertEquals([...strangers, ...honest].some((one) => one.state().isOver), false);
  }
  await world.advance(1_000);
  for (const { over } of [...strangers, ...honest]) await over;
});

Deno.test("while bodies without a client key are discarded, none of a key ends for another one", async () => {
  const world = scriptedWorld();
  const begin = (at: number, bytes: number, key: string | null = null) => {
    const one = discarding(
      null,
      (controller) =>
        one.state().pieces === 1 ? controller.enqueue(new Uint8Array(bytes)) : never(),
      {},
      world,
      `192.0.2.${at}`,
      key,
    );
    return one;
  };
  const keyed = [begin(0, 8_500, "ada"), begin(0, 8_500, "ada")];
  const strangers = Array.from({ length: 62 }, (_, at) => begin(at + 1, 9_000));
  await world.advance(0);
  keyed.push(begin(0, 8_500, "ada"));
  strangers.push(begin(100, 9_000));
  await world.advance(0);
  assertEquals(keyed.some((one) => one.state().isOver), false);
  assertEquals(strangers.filter((one) => one.state().isOver).length, 2);
  await world.advance(1_000);
  for (const { over } of [...strangers, ...keyed]) await over;
});

Deno.test("a client key with more than half of the bodies that are discarded ends its own, not those of others", async () => {
  const world = scriptedWorld();
  const begin = (at: number, key: string | null = null) => {
    const one = discarding(
      null,
      (controller) =>
        one.state().pieces === 1 ? controller.enqueue(new Uint8Array(9_000)) : never(),
      {},
      world,
      `192.0.2.${at}`,
      key,
    );
    return one;
  };
  const keyed = Array.from({ length: 32 }, () => begin(0, "ada"));
  const strangers = Array.from({ length: 32 }, (_, at) => begin(at + 1));
  await world.advance(0);
  const endedOf = (ones: typeof keyed) => ones.filter((one) => one.state().isOver).length;
  keyed.push(begin(0, "ada"));
  await world.advance(0);
  assertEquals([endedOf(keyed), endedOf(strangers)], [1, 0]);
  // With half of them none of the key ends.
  strangers.push(begin(100));
  await world.advance(0);
  assertEquals([endedOf(keyed), endedOf(strangers)], [1, 1]);
  await world.advance(1_000);
  for (const { over } of [...strangers, ...keyed]) await over;
});

Deno.test("the turns of bodies that are discarded go round among the clients", async () => {
  const { world, turns } = turningWorld();
  const reads = [0, 0, 0, 0];
  const all = reads.map((_, at) =>
    discarding(
      null,
      (controller) => {
        reads[at]!++;
        controller.enqueue(new Uint8Array(1));
      },
      {},
      world,
      at < 3 ? "192.0.2.1" : "192.0.2.2",
    )
  );
  await world.advance(0);
  for (let turn = 0; turn < 6; turn++) {
    turns.shift()?.();
    await world.advance(0);
  }
  assertEquals(reads, [16, 16, 16, 48]);
  await world.advance(5_000);
  await Promise.all(all.map(({ over }) => over));
  turns.shift()?.();
});

Deno.test("a client that leaves within a body that is discarded ends the wait", async () => {
  const left = discarding(MIB, () => Promise.reject(new Error("the connection is gone")));
  await left.world.advance(0);
  await left.over;
  assertEquals(left.state(), { pieces: 1, isOver: true, isCancelled: false });
});
