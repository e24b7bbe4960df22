import { compile } from "../../src/gateway/compile.ts";
import { newGateway } from "../../src/gateway/gateway.ts";
import { discardBody } from "../../src/server/discard_body.ts";
import { newCall } from "../../src/server/new_call.ts";
import { endpointAt } from "../observe/reports.ts";
import { configOf } from "../config/parse.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { twoKeys } from "../support/client_keys.ts";
import { oneProvider } from "../support/gateway.ts";
import { socketGateway } from "../support/socket_gateway.ts";
import { scriptedWorld } from "../support/world.ts";
import { connectRaw } from "./raw_connection.ts";

const PATH = "/v1/chat/completions", MIB = 1024 * 1024;

/** Begins to discard a body of which `pull` gives the pieces. */
function discarding(
  length: number | null,
  pull: (controller: ReadableStreamDefaultController<Uint8Array>) => void | Promise<void>,
  headers: Readonly<Record<string, string>> = {},
) {
  const world = scriptedWorld();
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
  const call = newCall(gateway, request, PATH, endpointAt(PATH));
  const over = discardBody(call, request, length).then(() => isOver = true);
  return {
    world,
    over,
    state: () => ({ pieces, isOver, isCancelled }),
  };
}

const never = () => new Promise<void>(() => {});

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

Deno.test("a response does not wait for a body that does not come, for long, or for more than 12 MiB", async () => {
  const silent = discarding(MIB, never);
  await silent.world.advance(499);
  assertEquals(silent.state(), { pieces: 1, isOver: false, isCancelled: false });
  await silent.world.advance(1);
  assertEquals(silent.state(), { pieces: 1, isOver: true, isCancelled: true });

  const slow = discarding(null, (controller) =>
    new Promise((pulled) => {
      slow.world.after(400, () => {
        controller.enqueue(new Uint8Array(1));
        pulled();
      });
    }));
  await slow.world.advance(4_999);
  assertEquals(slow.state().isOver, false);
  await slow.world.advance(1);
  assertEquals([slow.state().isOver, slow.state().isCancelled], [true, true]);

  const endless = discarding(null, (controller) => controller.enqueue(new Uint8Array(MIB)));
  await endless.over;
  assertEquals(endless.state(), { pieces: 13, isOver: true, isCancelled: true });

  const tiny = discarding(null, (controller) => controller.enqueue(new Uint8Array(1)));
  await tiny.over;
  assertEquals(tiny.state(), { pieces: 16 * 1024, isOver: true, isCancelled: true });
});

Deno.test("a body that is short, longer than 12 MiB or waits for permission, and that of the 65th refused request, is not read", async () => {
  for (
    const [length, headers] of [[256 * 1024, {}], [12 * MIB + 1, {}], [MIB, {
      expect: "100-continue",
    }]] as const
  ) {
    const left = discarding(length, never, headers);
    await left.over;
    assertEquals(left.state(), { pieces: 0, isOver: true, isCancelled: false });
  }
  const others = Array.from({ length: 64 }, () => discarding(MIB, never));
  const left = discarding(MIB, never);
  await left.over;
  assertEquals(left.state().pieces, 0);
  for (const { world, over } of others) {
    await world.advance(500);
    await over;
  }
  const next = discarding(MIB, (controller) => controller.close());
  await next.over;
  assertEquals(next.state().pieces, 1);
});

Deno.test("a client that leaves within a body that is discarded ends the wait", async () => {
  const left = discarding(MIB, () => Promise.reject(new Error("the connection is gone")));
  await left.over;
  assertEquals(left.state(), { pieces: 1, isOver: true, isCancelled: false });
});
