import { isObject, parseJson } from "../../../src/core/json/json.ts";
import { newRealWorld } from "../../../src/cli/real_world.ts";
import type { World } from "../../../src/core/world.ts";
import { utf8Bytes } from "../../../src/formats/utf8.ts";
import { delta, lifecycle, sse } from "../../api/responses/native/native_stream.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { create } from "../../support/socket_client.ts";
import { frameReader } from "../../support/frame_reader.ts";
import { withIdleTimeout } from "../../support/idle_timeout.ts";
import { type Line, openLine } from "../../support/line.ts";
import { frame, handshake, TEXT_CODE } from "../../support/raw_frames.ts";
import { socketGateway } from "../../support/socket_gateway.ts";

const CONFIG = `
providers:
  up: {type: compat, base_url: "http://up.test", api_key: k}
routing:
  routes: [{name: main, targets: [{provider: up, upstream_request_type: responses}]}]
retry: {enabled: false}
`;

/** Events of 64 KiB, 48 MiB together: far more than two kernels keep for a connection. */
const EVENT_COUNT = 768;

/**
 * Timeouts of the gateway for a client at the end of a socket, in milliseconds; no test waits for
 * them.
 */
const FAREWELLS: readonly number[] = [1_000, 3_000];

/**
 * A world whose upstream has much to say, and that counts what was taken and how often the gateway
 * waited.
 */
function talkative() {
  const real = newRealWorld();
  const waits = Promise.withResolvers<void>();
  const gaveUp = Promise.withResolvers<void>();
  let taken = 0;
  let asked = 0;
  const world: World & { close(): void } = {
    ...real,
    after(ms, task) {
      if (ms === 20 && ++asked === 5) waits.resolve();
      return real.after(FAREWELLS.includes(ms) ? 0 : ms, task);
    },
    send: (_url, { cancellation }) => {
      const body = new ReadableStream({
        type: "bytes",
        start(controller) {
          cancellation.onCancel(() => {
            controller.error(new DOMException("given up", "AbortError"));
            gaveUp.resolve();
          });
        },
        pull(controller) {
          controller.enqueue(utf8Bytes(eventAt(taken)));
          if (++taken < EVENT_COUNT) return;
          controller.close();
          controller.byobRequest?.respond(0);
        },
      });
      const headers = { "content-type": "text/event-stream" };
      return Promise.resolve(new Response(body, { headers }));
    },
  };
  return {
    world,
    waits: waits.promise,
    gaveUp: gaveUp.promise,
    taken: () => taken,
    /** Its timers end after the gateway, whose last read of the upstream waits for one. */
    [Symbol.dispose]: () => world.close(),
  };
}

function eventAt(sequence: number): string {
  if (sequence === 0) return sse(lifecycle("response.created", 0));
  return sse(
    sequence === EVENT_COUNT - 1
      ? lifecycle("response.completed", sequence)
      : delta(sequence, { delta: "x".repeat(64 * 1024) }),
  );
}

/** Opens a socket, asks for a response and does not read it. */
async function asking(url: string): Promise<Line> {
  const { hostname, port, host } = new URL(url);
  const line = openLine(await Deno.connect({ hostname, port: Number(port) }));
  const text = handshake(host) + frame(TEXT_CODE, JSON.stringify(create()));
  await line.write(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
  return line;
}

Deno.test("a client that does not read holds its upstream back, and misses nothing when it does", async () => {
  // A busy machine takes longer for the 48 MiB than the runtime waits for a pong.
  using _ = withIdleTimeout(0);
  using up = talkative();
  const { world, waits, taken } = up;
  await using served = socketGateway(CONFIG, { world });
  const line = await asking(served.url);
  await waits;
  assert(taken() < EVENT_COUNT / 2, `${taken()} of ${EVENT_COUNT} events were taken`);
  const reader = frameReader();
  const numbers: unknown[] = [];
  for (let last: unknown = null; last !== "response.completed";) {
    const bytes = await line.read();
    assert(bytes !== null);
    for (const message of reader.push(bytes)) {
      const event = parseJson(message);
      assert(isObject(event));
      numbers.push(event.sequence_number);
      last = event.type;
    }
  }
  assertEquals(numbers, Array.from({ length: EVENT_COUNT }, (_none, at) => at));
  line.close();
  await line.quiet();
});

Deno.test("a client that disconnects during backpressure ends its connection and the upstream request at once", async () => {
  using up = talkative();
  const { world, waits, gaveUp } = up;
  await using served = socketGateway(CONFIG, { world });
  const line = await asking(served.url);
  await waits;
  line.reset();
  await gaveUp;
  const report = await served.reported(2);
  assertEquals(report.failure?.kind, "client_cancelled");
  await served.gateway.state.inFlight.idle();
  assertEquals(await served.sockets(), 0);
  await line.quiet();
});

Deno.test("a client that does not read does not keep a gateway that ends", async () => {
  using up = talkative();
  const { world, waits } = up;
  await using served = socketGateway(CONFIG, { world });
  const line = await asking(served.url);
  await waits;
  const { inFlight } = served.gateway.state;
  inFlight.drain();
  inFlight.cancelAll();
  await served.reported(2);
  await inFlight.idle();
  assertEquals(await served.sockets(), 0);
  line.close();
  await line.quiet();
});

Deno.test("the socket of a client that only sends is closed, and its queued messages are not begun", async () => {
  using up = talkative();
  const { world, waits } = up;
  await using served = socketGateway(CONFIG, { world });
  const line = await asking(served.url);
  await waits;
  // As much of it as the error has: what waits for the client grows as fast as it can.
  const label = "x".repeat(1_024);
  const refused = frame(TEXT_CODE, JSON.stringify(create({ stream_id: label })));
  const bytes = Uint8Array.from(refused, (letter) => letter.charCodeAt(0));
  // Not awaited one by one: what is written after the gateway has stopped reading stays here.
  const writing = (async () => {
    while (await line.write(bytes));
  })();
  await served.gateway.state.inFlight.idle();
  assertEquals(served.reports.filter(({ provider }) => provider === "up").length, 1);
  assert(served.reports.some(({ status }) => status === 400));
  line.reset();
  await writing;
  await line.quiet();
});
